/**
 * Two versions of pawl work on one database while a deployment is under way. What a process of an earlier edition said is said
 * again to today's functions, on tables that its edition made and today's code brought up to date; and today's code works on
 * what such a process has left.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { derive } from '../../../src/core/evolve.ts'
import { conformance } from '../../../src/store/conformance/conformance.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { EDITION } from '../../../src/store/postgres/schema/functions.ts'
import { migrate } from '../../../src/store/postgres/schema/migrate.ts'
import type { Store } from '../../../src/store/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { soaking } from '../../support/scale.ts'
import { RealSetups } from '../conformance/real-clock.ts'
import { editionNumbers, readEdition } from './editions/edition.ts'
import { Replay } from './editions/replay.ts'

/** Those of the port's promises that are about what the tables hold; the others are proved on tables of today. */
const ABOUT_TABLES: ReadonlySet<string> = new Set(['S2', 'S3', 'S4', 'S5', 'S6', 'S9', 'S11', 'S12', 'S15'])
/** Editions before today's: the last of them in the gate, all of them in soak. Tables of today are everybody else's. */
const OLDER = editionNumbers().filter((number) => number < EDITION)
const WORKED_ON = soaking ? OLDER : OLDER.slice(-1)
/** How often a process of today looks at what the other one has written by then. */
const LOOKS = 8

describe.each(editionNumbers())('a process of edition %i', (number) => {
  const edition = readEdition(number)
  const all = edition.calls.length

  it.each([
    ['before its first word', 0],
    ['in the middle of its life', Math.floor(all / 2)],
    // Which shows that the recording is its edition's own.
    ['after its last', all],
  ])('is answered as it was, where the schema is brought up to date %s', async (_, upTo) => {
    await using database = await freshDatabase()
    await using replay = await Replay.open(database.url, edition)
    expect(await replay.until(upTo)).toEqual([])
    await broughtUpToDate(replay)
    await replay.keepTime()
    expect(await replay.until(all)).toEqual([])
  })

  it('is understood by one of today that works beside it', async () => {
    await using database = await freshDatabase()
    await using replay = await Replay.open(database.url, edition)
    await broughtUpToDate(replay)
    await replay.keepTime()
    const store = await openPostgresStore({ url: database.url })
    let seen = 0
    for (let look = 1; look <= LOOKS; look += 1) {
      expect(await replay.until(Math.floor((all * look) / LOOKS))).toEqual([])
      seen = await everyLogTellsItsRecord(store)
    }
    expect(seen).toBeGreaterThan(50)
    await store.close()
  })
})

describe.each(WORKED_ON)('on what a process of edition %i has left, today’s keeps the promise', (number) => {
  let database: FreshDatabase
  const setups = new RealSetups({ open: () => openPostgresStore({ url: database.url }) })

  beforeAll(async () => {
    database = await freshDatabase()
    await using replay = await Replay.open(database.url, readEdition(number))
    await replay.until(readEdition(number).calls.length)
    await broughtUpToDate(replay)
  })

  afterAll(async () => {
    await setups[Symbol.asyncDispose]()
    await database.drop()
  })

  const cannot = {
    transaction: 'postgres.test.ts has those of callers',
    setClock: 'postgres.test.ts has a clock that is set',
  }
  const cases = conformance({ name: `edition ${number}`, cannot, open: setups.open })
  for (const { promise, name, skipped, run } of cases)
    if (ABOUT_TABLES.has(promise) && skipped === undefined) it(`${promise} ${name}`, run)
})

/** Whole, as the first process of a new version does it: the clock is the machine's again. */
async function broughtUpToDate({ ask }: Replay): Promise<void> {
  await ask(`update pawl.migration set checksum = 'as it was' where number = 0`)
  expect(await migrate(ask, 'pawl')).toContain('functions')
}

/** Answers with how many jobs there are. */
async function everyLogTellsItsRecord(store: Store): Promise<number> {
  let seen = 0
  let cursor: string | undefined
  do {
    const page = await store.find({ order: 'oldest', limit: 50, cursor })
    for (const job of page.jobs) {
      const { events } = await store.events({ by: 'job', id: job.id, afterRev: 0, limit: 1_000 })
      expect(derive(events)).toEqual(job)
      seen += 1
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return seen
}
