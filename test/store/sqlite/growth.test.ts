/**
 * No statement costs more for what else the file holds: each is measured in a file with a thousand rows in each table, and again
 * with a hundred thousand, never analyzed and analyzed. SQLite tells nobody how far a statement has walked; what can be counted
 * without a clock is the bytes of the file it had read, by a connection that keeps next to none of them.
 */
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DOWNWARDS, UPWARDS } from '../../../src/store/sqlite/thread/read-statements.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/thread/schema.ts'
import { STATEMENTS } from '../../../src/store/sqlite/thread/statements.ts'
import { scaled } from '../../support/scale.ts'
import { sharedFile } from './folder.ts'
import { CASES, EXEMPT, WALKS } from './growth/cases.ts'
import { fill } from './growth/fill.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000), hookTimeout: scaled(120_000, 3_600_000) })

const FEW = 1_000
const MANY = scaled(100_000, 1_000_000)
const PAGE = 4_096
/**
 * A tree a hundred times as big is a level or two higher, and its root is not at hand any more. What was read beside few was
 * as many look-ups at most.
 */
const PAGES_PER_PROBE = 3
/** Where the system counts what a process reads. */
const COUNTERS = '/proc/self/io'

/** What may be gone through from its beginning: what came with the call. */
const WALK = /SCAN (?!CONSTANT ROW|\w+ VIRTUAL TABLE|json_each|[pd]$|\(subquery|sqlite_sequence)/m

/** They read nothing: a transaction begins or ends. */
const BRACKETS: ReadonlySet<string> = new Set([
  'begin',
  'commit',
  'rollback',
  'savepoint',
  'release',
  'undo',
  'snapshot',
  'leave',
  'dataVersion',
])

const calls = [
  ...Object.entries(STATEMENTS).map(([name, sql]) => ({ name, sql, values: CASES[name as keyof typeof CASES] })),
  ...[UPWARDS, DOWNWARDS].flatMap((walks) =>
    Object.entries(walks).map(([name, sql]) => ({
      name: `walk ${name}`,
      sql,
      values: WALKS[name as keyof typeof WALKS],
    })),
  ),
].filter(({ name }) => !BRACKETS.has(name))

const db = new DatabaseSync(sharedFile())
const few = new Map<string, number>()

beforeAll(() => {
  for (const setting of [
    'journal_mode = MEMORY',
    'locking_mode = EXCLUSIVE',
    'synchronous = OFF',
    `page_size = ${PAGE}`,
    'mmap_size = 0',
  ]) {
    db.exec(`PRAGMA ${setting}`)
  }
  for (const migration of MIGRATIONS) db.exec(migration)
  fill(db, 0, FEW)
  if (existsSync(COUNTERS)) for (const { sql, values } of calls) few.set(sql, pagesOf(sql, values))
  fill(db, FEW, MANY)
})

afterAll(() => db.close())

/** Of this process, so far. */
const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync(COUNTERS, 'utf8'))?.[1])

/** Taken back, so that it can be asked again. The least of three: other threads read, too. */
function pagesOf(sql: string, values: readonly (string | number | null)[]): number {
  const found = [1, 2, 3].map(() => {
    db.exec('PRAGMA cache_size = 1')
    db.exec('PRAGMA shrink_memory')
    db.exec('BEGIN')
    const statement = db.prepare(sql)
    const before = bytesRead()
    statement.all(...values)
    const read = bytesRead() - before
    db.exec('ROLLBACK')
    return read
  })
  return Math.floor(Math.min(...found) / PAGE)
}

const planOf = (sql: string, values: readonly unknown[]): string =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values.map(() => null))
    .map((row) => String(row['detail']))
    .join('\n')

/** Statements that walk or sort what grows. What ends with its limit is seen by its pages. */
const walking = (): readonly string[] =>
  calls
    .filter(({ sql, values }) => {
      const plan = planOf(sql, values)
      return /TEMP B-TREE|AUTOMATIC/.test(plan) || (WALK.test(plan) && !/LIMIT (\d+|\?)/.test(sql))
    })
    .map(({ name }) => name)
    .filter((name) => !EXEMPT.has(name))

/** How many are asked for together: beside few they may share their pages. */
const listed = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (String(value).startsWith('[') ? JSON.parse(String(value)).length : 0), 0)

const grown = (): readonly string[] =>
  calls.flatMap(({ name, sql, values }) => {
    const before = few.get(sql) ?? 0
    const many = pagesOf(sql, values)
    const most = before + PAGES_PER_PROBE * Math.max(before, listed(values))
    return EXEMPT.has(name) || many <= most
      ? []
      : [`${name} reads ${many} pages, ${before} beside few, ${most} at most`]
  })

describe.each(['never analyzed', 'analyzed'])('a file that was %s', (how) => {
  beforeAll(() => {
    if (how === 'analyzed') db.exec('ANALYZE')
  })

  it('has no statement that walks what grows', () => {
    expect(walking()).toEqual([])
  })

  it.skipIf(!existsSync(COUNTERS))(`has no statement that reads more for what else there is (by ${COUNTERS})`, () => {
    expect(grown()).toEqual([])
  })
})

it('exempts statements that there are', () => {
  const names = new Set(calls.map(({ name }) => name))
  expect([...EXEMPT.keys()].filter((name) => !names.has(name))).toEqual([])
})
