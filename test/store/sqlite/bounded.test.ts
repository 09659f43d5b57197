import { beforeAll, describe, expect, it, vi } from 'vitest'
import { idNumber } from '../../../src/core/id.ts'
import { type Job, STATES } from '../../../src/core/job.ts'
import { EVENT_CODES } from '../../../src/store/codec/codes.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { correlated } from '../../../src/store/sqlite/thread/correlated.ts'
import { find } from '../../../src/store/sqlite/thread/find.ts'
import { load, log } from '../../../src/store/sqlite/thread/read.ts'
import type { Reading } from '../../../src/store/sqlite/thread/reading.ts'
import { typed } from '../../../src/store/sqlite/thread/typed.ts'
import type { Change, JobQuery } from '../../../src/store/store.ts'
import { Counting } from './counting.ts'
import { sharedFile } from './folder.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** The same store twice, in the second ten times as much of everything. */
const SMALL = 300
const LARGE = 3_000
const EVENTS_SMALL = 100
const EVENTS_LARGE = 1_000

interface Filled {
  readonly counting: Counting
  readonly long: Job
  readonly request: string
}

const filled: Filled[] = []
const stores = [
  { path: sharedFile(), jobs: SMALL, events: EVENTS_SMALL },
  { path: sharedFile(), jobs: LARGE, events: EVENTS_LARGE },
]

beforeAll(async () => {
  for (const { path, jobs, events } of stores) {
    const store = await openSqliteStore({ path })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    await others(fixture, jobs)
    await fixture.insert(
      { tenant: 'small', correlationId: 'own', labels: { a: 'own' } },
      { tenant: 'small', type: 'other' },
      { tenant: 'small', queue: 'second' },
    )
    const { long, request } = await longLog(fixture, events)
    await store.close()
    filled.push({ counting: new Counting(path), long, request })
  }
  return () => {
    for (const { counting } of filled) counting[Symbol.dispose]()
  }
})

/** Another tenant's: many jobs that share all words, of many types. */
async function others(fixture: StoreFixture, jobs: number): Promise<void> {
  const words = { tenant: 'big', correlationId: 'shared', labels: { a: 'shared' }, workflowId: 'shared' }
  const born = await fixture.insert(...Array.from({ length: jobs }, (_, n) => ({ ...words, type: `t${n % 500}` })))
  const ended = born.slice(jobs / 2)
  const changes = ended.map((job) => fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin))
  expect((await fixture.commit(...changes)).every(({ status }) => status === 'applied')).toBe(true)
}

/** A job with a commit for each of many events, and then one commit with as many. */
async function longLog(
  fixture: StoreFixture,
  events: number,
): Promise<{ readonly long: Job; readonly request: string }> {
  let job = await fixture.insertOne({ tenant: 'small', queue: 'long', correlationId: 'long' })
  job = await fixture.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' })
  const fence = job.lease?.fence ?? ''
  job = await fixture.say(job, { type: 'start', fence })
  const progress = () => {
    const change = fixture.change(job, { type: 'progress', fence, counters: { n: 1 } }, fixture.begin)
    job = change.after
    return change
  }
  const alone = Array.from({ length: events }, progress)
  for (let i = 0; i < alone.length; i += 100) await applied(fixture, alone.slice(i, i + 100))
  const together = Array.from({ length: events }, progress)
  const [first, last] = [together[0], together.at(-1)]
  if (first === undefined || last === undefined) throw new Error('no events')
  await applied(fixture, [{ ...first, after: last.after, events: together.flatMap((each) => each.events) }])
  const request = alone[events / 2]?.events[0]?.requestId ?? ''
  return { long: job, request }
}

async function applied(fixture: StoreFixture, changes: readonly Change[]): Promise<void> {
  expect((await fixture.commit(...changes)).every(({ status }) => status === 'applied')).toBe(true)
}

/** Rows that a question takes in the small store and in the large one. */
function rowsOf(question: (reading: Reading, filled: Filled) => unknown): readonly [small: number, large: number] {
  const [small = 0, large = 0] = filled.map((each) => each.counting.of((reading) => question(reading, each)).rows)
  return [small, large]
}

const page = (query: Partial<JobQuery>): JobQuery => ({ order: 'newest', limit: 1, ...query })

describe('what a page costs does not grow with the store', () => {
  it.each<[string, Partial<JobQuery>]>([
    ['a tenant’s newest', { tenant: 'small' }],
    ['a tenant’s oldest', { tenant: 'small', order: 'oldest' }],
    ['a tenant’s in some states', { tenant: 'small', states: ['queued', 'succeeded', 'dead_lettered'] }],
    ['one type', { tenant: 'big', types: ['t7'] }],
    ['one queue', { tenant: 'small', queues: ['second'] }],
    ['a label that many share', { tenant: 'big', labels: { a: 'shared' } }],
    ['a workflow that many share', { workflowId: 'shared' }],
    ['a correlation that many share', { correlationId: 'shared' }],
    ['a tenant of many types', { tenant: 'big' }],
    ['all', {}],
    ['what ended before anything did', { endedBefore: 1, roughlyBornBefore: 1, order: 'oldest', limit: 500 }],
    ['ends with long logs', { longEnded: { from: 0, to: 1e15 }, limit: 100 }],
  ])('find: %s', (_, query) => {
    const [small, large] = rowsOf((reading) => find(reading, page(query)))
    expect(large).toBeLessThanOrEqual(small * 1.2 + 10)
  })

  it('find: what nearly nobody has, among many that are looked at one by one, ends before it has looked at all', () => {
    const { rows, answer } = (filled[1] as Filled).counting.of((reading) =>
      find(reading, page({ tenant: 'big', createdFrom: 1e15, states: [...STATES] })),
    )
    expect(answer.rows).toEqual([])
    expect(rows).toBeLessThan(4 * LARGE)
  })

  it.each([
    ['many jobs share it', 'big', 'shared'],
    ['one long log has it', 'small', 'long'],
    ['only others have it', 'small', 'shared'],
    ['nobody has it', 'small', 'unheard of'],
  ])('events by correlation where %s', (_, tenant, correlationId) => {
    const asked = { tenant, correlationId, after: [0, 0] as const, limit: 1 }
    const [small, large] = rowsOf((reading) => correlated(reading, asked))
    expect(large).toBe(small)
  })

  it('a log, from anywhere in it', () => {
    for (const afterRev of [0, EVENTS_SMALL - 10]) {
      const [small, large] = rowsOf((reading, { long }) => log(reading, { id: numberOf(long), afterRev, limit: 5 }))
      expect(large).toBeLessThanOrEqual(small + 1)
    }
  })

  it('what a request has caused', () => {
    const asked = (request: (each: Filled) => string) =>
      rowsOf((reading, each) =>
        load(reading, [[numberOf(each.long), null, 'alias', null, [], request(each), null, false]]),
      )
    const [small, large] = asked((each) => each.request)
    expect(large).toBe(small)
    expect(asked(() => 'unheard of')[1]).toBeLessThanOrEqual(large)
  })

  it('events by type, each stretch of a log once', () => {
    const asked = {
      types: [EVENT_CODES.progressed],
      tenant: 'small',
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      after: null,
      limit: 50,
    }
    const { answer } = (filled[1] as Filled).counting.of((reading) => typed(reading, asked))
    expect(answer.found.length).toBe(50)
    const stretches = answer.jobs.flatMap(({ log }) => log.map(([rev]) => rev))
    expect(new Set(stretches).size).toBe(stretches.length)
    const [small, large] = rowsOf((reading) => typed(reading, asked))
    expect(large).toBeLessThanOrEqual(small * 1.2 + 10)
  })
})

describe('a word that only others have said', () => {
  it.each<[string, (words: string) => JobQuery]>([
    ['a correlation', (words) => page({ tenant: 'small', correlationId: words })],
    ['a label', (words) => page({ tenant: 'small', labels: { a: words } })],
    ['a workflow', (words) => page({ tenant: 'small', workflowId: words })],
  ])('takes as long as one that nobody has: %s', (_, query) => {
    const { counting } = filled[1] as Filled
    const foreign = counting.of((reading) => find(reading, query('shared')))
    expect(foreign.answer.rows).toEqual([])
    expect(foreign.rows).toBe(counting.of((reading) => find(reading, query('unheard of'))).rows)
  })
})

const numberOf = ({ id }: Job): number => idNumber(id) ?? 0
