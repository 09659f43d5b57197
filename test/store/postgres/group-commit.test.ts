import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gateOf } from '../../../src/core/flow/gate.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Change, Store } from '../../../src/store/store.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { claimedBy, completion, grantOf, kindOf, newJob, range } from './flow.ts'

let database: FreshDatabase
let store: Store
let client: pg.Client

beforeAll(async () => {
  database = await migratedDatabase()
  store = await openPostgresStore({ url: database.url, migrate: true })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await store.close()
  await database.drop()
})

const OPEN = gateOf(atRest(''), {})

/** Each commit writes one entry of the feed. */
const commits = async (): Promise<number> => (await client.query('select count(*)::int as n from pawl.entry')).rows[0].n

describe('calls that arrive while a commit is under way', () => {
  it('ride in the next one: 64 single enqueues are a handful of commits', async () => {
    const { now } = await store.load([])
    await store.insert([newJob(kindOf('single'), 1, now)])
    const before = await commits()
    const answers = await Promise.all(range(2, 64).map((n) => store.insert([newJob(kindOf('single'), n, now)])))
    for (const { items } of answers) expect(items).toEqual([{ status: 'inserted' }])
    expect((await commits()) - before).toBeLessThanOrEqual(5)
  })

  it('have verdicts of their own: single completions, and one that comes too late', async () => {
    const grant = grantOf('single', 65)
    const { jobs, now } = await store.claim(grant)
    expect(jobs.length).toBe(65)
    const before = await commits()
    const ends = jobs.map((job) => completion(claimedBy(job, grant), now))
    const late = ends.map((end, i) => (i === 7 ? { ...end, notAfter: 1 } : end))
    const verdicts = (await Promise.all(late.map((end) => store.commit([end])))).flatMap((answer) => answer.verdicts)
    expect(verdicts.map(({ status }) => status)).toEqual(range(0, 65).map((i) => (i === 7 ? 'late' : 'applied')))
    expect((await commits()) - before).toBeLessThanOrEqual(5)
  })

  it.each([
    ['compare it', (n: number) => ({ rev: n < 15 ? 1 : 2, next: 'same' as const })],
    ['take it further', (n: number) => ({ rev: n + 1, next: { gate: OPEN, text: `${n}` } })],
  ])('of one flow key are as few, where they %s', async (how, move) => {
    const kind = kindOf(how)
    const { now } = await store.load([])
    const flow = [{ key: how, gate: OPEN, text: '' }]
    const news = range(how.length * 1_000, 30).map((n) => newJob(kind, n, now))
    await store.insert(
      news.map(({ job, ...rest }) => ({
        ...rest,
        job: { ...job, spec: { ...job.spec, flow: { keys: [how], fair: undefined } } },
        flow,
      })),
    )
    const grant = grantOf(how, 30)
    const { jobs } = await store.claim(grant)
    expect(jobs.length).toBe(30)
    const before = await commits()
    const ends = jobs.map(
      (job, n): Change => ({
        ...completion(claimedBy(job, grant), now),
        flow: { key: how, ...move(n) },
      }),
    )
    const set = { kind: 'key', tenant: 't', move: { key: how, rev: 1, next: { gate: OPEN, text: 'set' } } } as const
    const { verdicts } = await store.commit(how === 'compare it' ? ends.toSpliced(15, 0, set) : ends)
    expect(verdicts.every(({ status }) => status === 'applied')).toBe(true)
    expect((await commits()) - before).toBeLessThanOrEqual(2)
  })

  it('do not wait for a key that somebody holds in an open transaction', async () => {
    const { now } = await store.load([])
    const keys = [{ purpose: 'dedupe', key: 'held', until: undefined } as const]
    await client.query('begin')
    const holder = { ...newJob(kindOf('held'), 1_001, now), keys }
    await store.insert([holder], client)
    const second = store.insert([{ ...newJob(kindOf('held'), 1_002, now), keys }])
    const neighbours = await Promise.all(range(1_100, 20).map((n) => store.insert([newJob(kindOf('held'), n, now)])))
    expect(neighbours.every(({ items }) => items[0]?.status === 'inserted')).toBe(true)
    await client.query('commit')
    const { items } = await second
    expect(items[0]?.status === 'exists' && [items[0].by, items[0].job.id]).toEqual(['dedupe', holder.job.id])
  })
})
