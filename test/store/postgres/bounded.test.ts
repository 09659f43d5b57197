import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { statementsIn } from '../../../src/store/postgres/connection/statements.ts'
import { Kinds } from '../../../src/store/postgres/names/kinds.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { eventsByCorrelation } from '../../../src/store/postgres/read/by-correlation.ts'
import { eventsByType } from '../../../src/store/postgres/read/by-type.ts'
import { find } from '../../../src/store/postgres/read/find.ts'
import { type LoadParts, load } from '../../../src/store/postgres/read/load.ts'
import { eventsOfJob } from '../../../src/store/postgres/read/logs.ts'
import type { Change, JobQuery } from '../../../src/store/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** The same store twice, in the second ten times as much of everything. */
const SIZES = { small: { jobs: 200, events: 60 }, large: { jobs: 2_000, events: 600 } } as const
type Size = keyof typeof SIZES

interface Filled {
  readonly parts: LoadParts
  readonly long: Job
  readonly request: string
}

let database: FreshDatabase
let client: pg.Client
let pages = 0
const filled = new Map<Size, Filled>()

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  for (const [size, { jobs, events }] of Object.entries(SIZES)) {
    const store = await openPostgresStore({ url: database.url, schema: size, migrate: true })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    await others(fixture, jobs)
    const { long, request } = await longLog(fixture, events)
    await fixture.insert({ tenant: 'few', labels: { a: 'own' } }, { tenant: 'few', queue: 'second' })
    await store.close()
    const statements = statementsIn(size)
    filled.set(size as Size, { parts: { run, statements, kinds: new Kinds(run, statements) }, long, request })
  }
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** As the store asks, with the pages of the database counted that an answer takes, those of functions too. */
const run: LoadParts['run'] = async (text, values) => {
  const { rows: plans } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values)
  const plan = plans[0]['QUERY PLAN'][0].Plan
  pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  const types = { getTypeParser: () => (value: string) => value }
  const { rows } = await client.query({ text, values, rowMode: 'array', types } as pg.QueryArrayConfig)
  return rows as string[][]
}

/** Another tenant's: many jobs that share all words, and ended one after the other. */
async function others(fixture: StoreFixture, jobs: number): Promise<void> {
  const words = { tenant: 'many', correlationId: 'shared', labels: { a: 'shared' }, workflowId: 'shared' }
  const born = await fixture.insert(...Array.from({ length: jobs }, (_, n) => ({ ...words, type: `t${n % 50}` })))
  const ended = born.slice(0, jobs / 2)
  await applied(
    fixture,
    ended.map((job, n) => fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin + n)),
  )
}

/** A job with a commit for each of many events. */
async function longLog(
  fixture: StoreFixture,
  events: number,
): Promise<{ readonly long: Job; readonly request: string }> {
  let job = await fixture.insertOne({ tenant: 'few', queue: 'long', correlationId: 'long' })
  job = await fixture.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' })
  const fence = job.lease?.fence ?? ''
  job = await fixture.say(job, { type: 'start', fence })
  const changes = Array.from({ length: events }, (_, n) => {
    const change = fixture.change(job, { type: 'progress', fence, counters: { n: 1 } }, fixture.begin + n)
    job = change.after
    return change
  })
  await applied(fixture, changes)
  return { long: job, request: changes[events / 2]?.events[0]?.requestId ?? '' }
}

/** A call longer than a batch is several, at once. */
async function applied(fixture: StoreFixture, changes: readonly Change[]): Promise<void> {
  for (let i = 0; i < changes.length; i += 100) {
    const verdicts = await fixture.commit(...changes.slice(i, i + 100))
    expect(verdicts.every(({ status }) => status === 'applied')).toBe(true)
  }
}

/** What a question takes, asked once before: kinds and plans are remembered. */
async function pagesOf(size: Size, question: (filled: Filled) => Promise<unknown>): Promise<number> {
  const each = filled.get(size) as Filled
  await question(each)
  // The least of some: what a plan that was just made anew has read of catalogs, because statistics had changed, is not the question's.
  const counts: number[] = []
  for (let n = 0; n < 3; n += 1) {
    pages = 0
    await question(each)
    counts.push(pages)
  }
  return Math.min(...counts)
}

async function expectBounded(question: (filled: Filled) => Promise<unknown>): Promise<void> {
  const [small, large] = [await pagesOf('small', question), await pagesOf('large', question)]
  expect(small).toBeGreaterThan(0)
  expect(large).toBeLessThanOrEqual(small * 1.5 + 400)
}

const page = (query: Partial<JobQuery>): JobQuery => ({ order: 'newest', limit: 1, ...query })

describe('what a page costs does not grow with the database', () => {
  it.each<[string, Partial<JobQuery>]>([
    ['a tenant’s newest', { tenant: 'few' }],
    ['one of many types', { tenant: 'many', types: ['t7'] }],
    ['a label that many share', { tenant: 'many', labels: { a: 'shared' } }],
    ['a workflow that many share', { workflowId: 'shared' }],
    ['a correlation that many share', { correlationId: 'shared' }],
    ['some states', { tenant: 'many', states: ['cancelled', 'queued'] }],
    ['all', {}],
    ['what ended before anything was born', { endedBefore: 1, roughlyBornBefore: 1, order: 'oldest', limit: 500 }],
    ['ends with long logs', { longEnded: { from: 0, to: 1e15 }, limit: 100 }],
  ])('find: %s', (_, query) => expectBounded(({ parts }) => find(parts, page(query))))

  it.each([
    ['many jobs share it', 'many', 'shared'],
    ['one long log has it', 'few', 'long'],
    ['only others have it', 'few', 'shared'],
  ])('events by correlation where %s', (_, tenant, correlationId) =>
    expectBounded(({ parts }) => eventsByCorrelation(parts, { by: 'correlation', tenant, correlationId, limit: 1 })),
  )

  it.each([0, SIZES.small.events - 10])('a log after revision %i', (afterRev) =>
    expectBounded(({ parts, long }) => eventsOfJob(parts, long.id, afterRev, 5)),
  )

  it('what a request has caused', async () => {
    await expectBounded(({ parts, long, request }) => load(parts, [{ id: long.id, requestId: request }]))
    await expectBounded(({ parts, long }) => load(parts, [{ id: long.id, requestId: 'unheard of' }]))
  })

  it.each(['progressed', 'cancelled'] as const)('events that are %s, by time', (type) =>
    expectBounded(({ parts }) => eventsByType(parts, { by: 'type', types: [type], from: 0, to: 1e15, limit: 5 })),
  )
})

describe('a word that only others have said', () => {
  it.each<[string, (words: string) => JobQuery]>([
    ['a correlation', (words) => page({ tenant: 'few', correlationId: words })],
    ['a label', (words) => page({ tenant: 'few', labels: { a: words } })],
    ['a workflow', (words) => page({ tenant: 'few', workflowId: words })],
  ])('takes as long as one that nobody has: %s', async (_, query) => {
    const foreign = await pagesOf('large', ({ parts }) => find(parts, query('shared')))
    const unknown = await pagesOf('large', ({ parts }) => find(parts, query('unheard of')))
    expect(Math.abs(foreign - unknown)).toBeLessThanOrEqual(4)
  })
})
