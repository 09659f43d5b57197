import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { places, type Source, sources } from '../support/source.ts'

/** This file names what it forbids. */
const self = 'test/repository/leftovers.test.ts'
const files = sources('{src,test,scripts,bench,examples}/**/*.{ts,mjs}', '*.ts').filter(({ path }) => path !== self)
const comments: readonly Source[] = files.map((file) => ({ ...file, lines: file.text.split('\n') }))

describe('nothing is left over', () => {
  it('no promise to come back later', () => {
    expect(places(comments, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([])
  })

  it('no way around the compiler', () => {
    expect(places(comments, /@ts-(ignore|expect-error|nocheck)/)).toEqual([])
    expect(places(files, /\bas unknown as\b|\bas any\b|:\s*any\b|<any>|\bany\[\]|Array<any>/)).toEqual([])
  })

  it('no test that runs alone, or never without saying why', () => {
    const tests = files.filter(({ path }) => path.startsWith('test/'))
    expect(places(tests, /\b(it|test|describe)(\.\w+)*\.only\b|\b(xit|xdescribe|fit|fdescribe)\(/)).toEqual([])
    expect(places(tests, /\b(it|test|describe)\.(skip|todo)\(/)).toEqual([])
  })
})

describe('the lock file', () => {
  const lock = readFileSync('package-lock.json', 'utf8')

  it('does not name the host that packages came from', () => {
    expect(lock).not.toMatch(/"resolved"/)
    if (existsSync('.npmrc')) expect(readFileSync('.npmrc', 'utf8')).not.toMatch(/registry\s*=|\/\//)
  })

  it('pins each package by its content', () => {
    const { packages } = JSON.parse(lock) as { packages: Record<string, { integrity?: string; link?: boolean }> }
    const loose = Object.entries(packages).filter(([name, entry]) => name !== '' && !entry.link && !entry.integrity)
    expect(loose.map(([name]) => name)).toEqual([])
  })

  it('agrees with package.json, which leaves room at run time and none for development', () => {
    const { packages } = JSON.parse(lock) as { packages: Record<string, Record<string, Record<string, string>>> }
    const own = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>>
    // An app has one copy of what both need, and security fixes without waiting for us; the tests have what they had.
    const shapes = { dependencies: /^\^\d+\.\d+\.\d+$/, devDependencies: /^\d+\.\d+\.\d+$/ }
    for (const [group, shape] of Object.entries(shapes)) {
      expect(packages['']?.[group]).toEqual(own[group])
      for (const version of Object.values(own[group] ?? {})) expect(version).toMatch(shape)
    }
  })
})
