import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { filesLike } from '../../support/source.ts'
import { ownFolder } from './folder.ts'
import { clockOf, newJob } from './life.ts'

describe('a build', () => {
  it('finds its thread: there the sources are JavaScript', async () => {
    const folder = ownFolder()
    for (const path of filesLike('src/{core,system,store}/**/*.ts')) {
      const target = join(folder, path.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(target), { recursive: true })
      const source = stripTypeScriptTypes(readFileSync(path, 'utf8'))
      writeFileSync(target, source.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const url = pathToFileURL(join(folder, 'src/store/sqlite/sqlite.js')).href
    const built = (await import(/* @vite-ignore */ url)) as { openSqliteStore: typeof openSqliteStore }
    const store = await built.openSqliteStore({ path: join(folder, 'jobs.db') })
    const { items } = await store.insert([newJob(1, await clockOf(store))])
    expect(items).toEqual([{ status: 'inserted' }])
    await store.close()
  })
})
