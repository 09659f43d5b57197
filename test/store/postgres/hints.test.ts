import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Kind } from '../../../src/core/job.ts'
import { connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { ClaimedJob, Hint, Store } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { claimedBy, completion, grantOf, kindOf, newJob, range } from './flow.ts'

let database: FreshDatabase
let producer: Store
let listener: Store
let subscription: AsyncDisposable
/** What the producer sent. */
let statements: string[] = []
let heard: Hint[] = []
/** The producer's own clock: it stands still unless a test moves it. */
let nowMs = 1_000

beforeAll(async () => {
  database = await migratedDatabase()
  const { url } = database
  producer = await openPostgresStore({
    url,
    migrate: true,
    clock: { ...realClock, monotonicMs: () => nowMs },
    connect(config) {
      const client = connectWithPg(config)
      return {
        ...client,
        query(question) {
          // A connection that is new has a few words for its server.
          if (!/pg_backend_pid|set_config/.test(question.text)) statements.push(question.text)
          return client.query(question)
        },
      }
    },
  })
  listener = await openPostgresStore({ url })
  subscription = await listener.subscribe((hint) => heard.push(hint))
})

afterAll(async () => {
  await subscription[Symbol.asyncDispose]()
  await producer.close()
  await listener.close()
  await database.drop()
})

afterEach(() => {
  // What was spent is saved up again.
  nowMs += 1_000
})

const rode = () => statements.filter((text) => /\.offer\(/.test(text))
const apart = () => statements.filter((text) => text.startsWith('select pg_notify'))
const heardOf = (kind: Kind) => eventually('a hint', () => heard.some((hint) => isAbout(hint, kind)))
const isAbout = (hint: Hint, { queue }: Kind) => hint.about === 'queue' && hint.queue === queue

async function interned(queue: string, firstNumber: number) {
  const kind = kindOf(queue)
  const { now } = await producer.load([])
  await producer.insert([newJob(kind, firstNumber, now)])
  await heardOf(kind)
  nowMs += 1_000
  statements = []
  heard = []
  return { kind, now }
}

describe('hints about new work', () => {
  it('are sent by the commit of a single job: no second statement, no wait', async () => {
    const { kind, now } = await interned('single', 1)
    await producer.insert([newJob(kind, 2, now)])
    await heardOf(kind)
    expect([rode().length, apart().length, statements.length]).toEqual([1, 0, 1])
  })

  it('ride with keyed jobs, too', async () => {
    const { kind, now } = await interned('keyed', 11)
    const keys = [{ purpose: 'dedupe', key: 'k', until: undefined } as const]
    await producer.insert([{ ...newJob(kind, 12, now), keys }])
    await heardOf(kind)
    expect([rode().length, apart().length, statements.length]).toEqual([1, 0, 1])
  })

  it('are sparing where there is much of it, and told after the last', async () => {
    const { kind, now } = await interned('many', 100)
    for (let call = 0; call < 20; call += 1) {
      await producer.insert(range(1_000 + call * 100, 100).map((n) => newJob(kind, n, now)))
      if (call === 0) await heardOf(kind)
    }
    expect(rode().length).toBe(1)
    heard = []
    await heardOf(kind)
    expect(apart().length).toBeGreaterThan(0)
  })

  it('come although the batch had to be broken up', async () => {
    const { kind, now } = await interned('broken', 5_000)
    const { items } = await producer.insert([newJob(kind, 5_000, now), newJob(kind, 5_001, now)])
    expect(items.map(({ status }) => status)).toEqual(['exists', 'inserted'])
    await heardOf(kind)
    expect([rode().length, apart().length]).toEqual([1, 1])
  })

  it('are about anything where their names are longer than a notification may be', async () => {
    const kinds = range(0, 20).map((n) => kindOf(`${'é'.repeat(95)}${n}`))
    const { now } = await producer.load([])
    const jobs = kinds.map((kind, n) => newJob(kind, 7_000 + n, now))
    heard = []
    const { items } = await producer.insert(jobs)
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['inserted']))
    await eventually('a hint', () => heard.some(({ about }) => about === 'anything'))
  })

  it('are told in the process itself when the job is there', async () => {
    const { kind, now } = await interned('own', 6_000)
    const own: Hint[] = []
    await using _own = await producer.subscribe((hint) => own.push(hint))
    const inserted = producer.insert([newJob(kind, 6_001, now)])
    expect(own).toEqual([])
    await inserted
    await eventually('its own hint', () => own.some((hint) => isAbout(hint, kind)))
    expect(own.filter((hint) => isAbout(hint, kind)).length).toBe(1)
  })
})

describe('hints about jobs', () => {
  it('say in every process whose they are', async () => {
    const { kind, now } = await interned('ended', 8_000)
    const own: Hint[] = []
    await using _own = await producer.subscribe((hint) => own.push(hint))
    const grant = grantOf('ended', 1)
    const { jobs } = await producer.claim(grant)
    const job = claimedBy(jobs[0] as ClaimedJob, grant)
    await producer.commit([completion(job, now)])
    const expected: Hint = { about: 'job', id: job.id, tenant: kind.tenant, queue: 'ended' }
    for (const hints of [own, heard]) await eventually('a hint', () => hints.some(({ about }) => about === 'job'))
    for (const hints of [own, heard]) expect(hints.filter(({ about }) => about === 'job')).toEqual([expected])
  })
})
