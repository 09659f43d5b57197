import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { scaled } from '../../support/scale.ts'
import { runPrograms } from './run-programs.ts'

it(
  'what programs do to a SQLite store is what core says they do',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-programs-'))
    const store = await openSqliteStore({ path: join(folder, 'jobs.db') })
    try {
      expect(await runPrograms({ store, count: scaled(500, 20_000), seed: 1 })).toEqual([])
    } finally {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
  scaled(120_000, 3_600_000),
)
