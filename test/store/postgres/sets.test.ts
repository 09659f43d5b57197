/** Changes of many jobs and many kinds that come together: one entry of the feed, a verdict each. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Command } from '../../../src/core/command.ts'
import { derive } from '../../../src/core/evolve.ts'
import { idText } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Change, Store } from '../../../src/store/store.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { change, claimedBy, grantOf, kindOf, newJob, range } from './flow.ts'

type Move = Extract<Change, { kind: 'move' }>
type Words<C = Command> = C extends unknown ? Omit<C, 'actor' | 'requestId'> : never

let database: FreshDatabase
let client: pg.Client
let one: Store
let two: Store

beforeAll(async () => {
  database = await migratedDatabase()
  one = await openPostgresStore({ url: database.url, migrate: true })
  two = await openPostgresStore({ url: database.url })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await one.close()
  await two.close()
  await database.drop()
})

let words = 0
function saying(job: Job, command: Words, now: number, more: Partial<Move> = {}): Move {
  words += 1
  const said = { ...command, actor: 'somebody', requestId: `word ${words}` } as Command
  return { ...change(job, said, now), ...more }
}

const fence = (job: Job) => ({ fence: job.lease?.fence ?? '' })

async function inserted(queue: string, numbers: readonly number[]): Promise<{ jobs: readonly Job[]; now: number }> {
  const { now } = await one.load([])
  const jobs = numbers.map((n) => newJob(kindOf(queue), n, now - 60_000))
  await one.insert(jobs)
  return { jobs: jobs.map(({ job }) => job), now }
}

async function owned(queue: string, numbers: readonly number[]): Promise<readonly Job[]> {
  await inserted(queue, numbers)
  const grant = grantOf(queue, numbers.length)
  const { jobs } = await one.claim(grant)
  expect(jobs).toHaveLength(numbers.length)
  return jobs.map((job) => claimedBy(job, grant))
}

async function applied(changes: readonly Move[]): Promise<readonly Job[]> {
  const { verdicts } = await one.commit(changes)
  expect(verdicts).toEqual(changes.map(() => ({ status: 'applied' })))
  return changes.map(({ after }) => after)
}

const recordOf = async (id: string) => (await one.load([{ id }])).items[0]?.job
const lastEntry = async () =>
  (await client.query('select id::int, jobs::int[], void from pawl.entry order by id desc limit 1')).rows[0]

it('every kind of change, from every place to every place, with a verdict for each', async () => {
  const claimed = await owned('sets', range(1, 10))
  const { jobs: queued, now } = await inserted('sets-queued', range(21, 3))
  const start = (job: Job) => saying(job, { type: 'start', ...fence(job) }, now)
  const running = await applied(claimed.slice(1).map(start))
  const [a] = claimed as [Job]
  const [b, c, d, e, f, g, h, i, j] = running as [Job, Job, Job, Job, Job, Job, Job, Job, Job]
  const [waiting, ended] = (await applied([
    saying(g, { type: 'wait', ...fence(g), name: 'go' }, now),
    saying(h, { type: 'cancel', mode: 'hard' }, now),
  ])) as [Job, Job]
  const body = { name: 'step/a', size: 1, digest: undefined }
  const step = { name: 'a', body, compensate: false }
  const memo = { bodies: [{ name: 'step/a', text: '1' }] }
  const changes = [
    start(a),
    saying(b, { type: 'record', ...fence(b), step }, now, memo),
    saying(c, { type: 'progress', ...fence(c), counters: { n: 1 } }, now),
    saying(d, { type: 'wait', ...fence(d), name: 'go' }, now),
    saying(e, { type: 'fail', ...fence(e), fault: { code: 'E', message: 'no' } }, now),
    saying(f, { type: 'release', ...fence(f), reason: 'shutdown' }, now),
    saying(waiting, { type: 'signal', name: 'go' }, now),
    saying(ended, { type: 'reopen' }, now),
    saying(queued[0] as Job, { type: 'cancel', mode: 'hard' }, now),
    saying(queued[1] as Job, { type: 'reschedule', priority: 1 }, now),
  ]
  const stale = saying(claimed[8] as Job, { type: 'start', ...fence(i) }, now)
  const late = saying(j, { type: 'progress', ...fence(j), counters: { n: 2 } }, now, { notAfter: now - 1 })
  const gone = saying({ ...(queued[2] as Job), rev: 7 }, { type: 'cancel', mode: 'hard' }, now)
  const together = [...changes.slice(0, 4), late, stale, ...changes.slice(4), gone]
  const before = await lastEntry()
  const { verdicts } = await one.commit(together)
  expect(verdicts.map(({ status }) => status)).toEqual(
    together.map((each) => (each === late ? 'late' : changes.includes(each) ? 'applied' : 'conflict')),
  )
  const entry = await lastEntry()
  expect(entry.id).toBe(before.id + 1)
  expect(entry.jobs.map(idText).toSorted()).toEqual(changes.map(({ before: { id } }) => id).toSorted())
  for (const { after } of changes) {
    expect(await recordOf(after.id)).toEqual(after)
    const { events } = await one.events({ by: 'job', id: after.id, afterRev: 0, limit: 100 })
    expect(derive(events)).toEqual(after)
  }
  for (const job of [i, j, queued[2] as Job]) expect(await recordOf(job.id)).toEqual(job)
  // What was asked for is found again: its start, and the claim, which was in no row of history before.
  const { events: ofFirst } = await one.events({ by: 'job', id: a.id, afterRev: 0, limit: 10 })
  expect(ofFirst.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started'])
  for (const event of ofFirst) {
    const { items } = await one.load([{ id: a.id, requestId: event.requestId }])
    expect(items[0]?.caused).toEqual([event])
  }
})

it('who takes a key that is held is told so, and those it came with move', async () => {
  const key = { tenant: 't', purpose: 'dedupe', key: 'the one', until: undefined } as const
  const { jobs, now } = await inserted('sets-keyed', range(101, 4))
  const [a, b, c, d] = jobs as [Job, Job, Job, Job]
  const reschedule = (job: Job, more: Partial<Move>) =>
    saying(job, { type: 'reschedule', runAt: now + 60_000 }, now, more)
  await applied([reschedule(a, { take: [key] })])
  const moves = [reschedule(b, {}), reschedule(c, { take: [key] }), reschedule(d, {})]
  expect((await one.commit(moves)).verdicts).toEqual([
    { status: 'applied' },
    { status: 'taken', key, holder: a.id },
    { status: 'applied' },
  ])
  expect(await recordOf(c.id)).toEqual(c)
  expect((await one.events({ by: 'job', id: c.id, afterRev: 0, limit: 10 })).events).toHaveLength(1)
})

it('two who cancel the same jobs in opposite orders both get an answer, and each job is cancelled once', async () => {
  for (const round of range(0, 10)) {
    const { jobs, now } = await inserted('sets-crossed', range(1_000 + round * 200, 200))
    const cancels = () => jobs.map((job) => saying(job, { type: 'cancel', mode: 'hard' }, now))
    const [forth, back] = await Promise.all([one.commit(cancels()), two.commit(cancels().toReversed())])
    const mirrored = back.verdicts.toReversed()
    for (const [i, verdict] of forth.verdicts.entries()) {
      expect([verdict.status, mirrored[i]?.status].toSorted()).toEqual(['applied', 'conflict'])
    }
  }
})
