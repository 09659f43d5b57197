import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decide } from '../../../src/core/decide.ts'
import { derive } from '../../../src/core/evolve.ts'
import { idText } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import type { Change, Store } from '../../../src/store/store.ts'
import { ownFile } from './folder.ts'
import { cancelled, clockOf, completed, grant, newJob, owned } from './life.ts'

const JOBS = 12
const NUMBERS = Array.from({ length: JOBS }, (_, i) => i + 1)

async function claimed(path = ownFile()): Promise<{ store: Store; jobs: Job[]; now: number }> {
  const store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  const born = await clockOf(store)
  await store.insert(NUMBERS.map((number) => newJob(number, born)))
  const asked = grant(JOBS)
  const answer = await store.claim(asked)
  return { store, jobs: owned(answer, asked), now: answer.now }
}

const statuses = async (store: Store, changes: readonly Change[]) =>
  (await store.commit(changes)).verdicts.map(({ status }) => status)

async function recordOf(store: Store, id: string): Promise<Job | undefined> {
  return (await store.load([{ id }])).items[0]?.job
}

async function historyOf(store: Store, id: string) {
  return (await store.events({ by: 'job', id, afterRev: 0, limit: 100 })).events
}

async function expectTrue(store: Store, after: Job): Promise<void> {
  expect(await recordOf(store, after.id)).toEqual(after)
  expect(derive(await historyOf(store, after.id))).toEqual(after)
}

function finished(before: Job, now: number, text: string, digest: string | undefined) {
  const fence = before.lease?.fence ?? ''
  const output = { name: 'output', size: text.length, digest }
  const asked = { type: 'complete', actor: 'worker:w', requestId: `${fence}/complete`, fence } as const
  const decision = decide(before, { ...asked, startedAt: now, result: digest === 'none' ? undefined : output }, now)
  if (decision.kind !== 'accepted') throw new Error('refused')
  const { job: after, events } = decision
  const nothing = { give: [], take: [], spawn: undefined, notAfter: before.lease?.expiresAt }
  return { kind: 'move', before, after, events, bodies: [{ name: 'output', text }], ...nothing } as const
}

const count = (path: string, table: string): unknown => {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
  } finally {
    db.close()
  }
}

describe('jobs that end alike', () => {
  it('share one row, and each has its own record, events and place in the feed', async () => {
    const path = ownFile()
    const { store, jobs, now } = await claimed(path)
    const ends = jobs.map((job) => completed(job, now))
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('applied'))
    expect(count(path, 'ending')).toBe(1)
    for (const { after } of ends) await expectTrue(store, after)
    const { feed } = await store.events({ by: 'feed', after: '', limit: 1_000 })
    for (const type of ['enqueued', 'claimed', 'succeeded'] as const) {
      expect(feed.filter((item) => item.type === type).map(({ jobId }) => jobId)).toEqual(NUMBERS.map(idText))
    }
    const { tally } = await store.events({ by: 'tally' })
    expect(tally.map(({ state, count: n }) => [state, n])).toEqual([['succeeded', JOBS]])
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('conflict'))
  })

  it.each(['without outputs', 'with outputs of their own'])(
    'reject the one that cannot be kept, and no other, %s',
    async (how) => {
      const path = ownFile()
      const { store, jobs, now } = await claimed(path)
      const db = new DatabaseSync(path)
      db.exec(
        "CREATE TRIGGER unkeepable BEFORE INSERT ON done WHEN new.id = 5 BEGIN SELECT raise(ABORT, 'not this one'); END",
      )
      db.close()
      const ends = jobs.map((job) =>
        how === 'without outputs' ? completed(job, now) : finished(job, now, `"${job.id}"`, undefined),
      )
      const { verdicts } = await store.commit(ends)
      const rejected = { status: 'rejected', field: 'change', rule: expect.stringContaining('not this one') }
      expect(verdicts).toEqual(NUMBERS.map((number) => (number === 5 ? rejected : { status: 'applied' })))
      for (const [i, { before, after }] of ends.entries()) await expectTrue(store, i === 4 ? before : after)
      const { tally } = await store.events({ by: 'tally' })
      expect(tally.map(({ state, count: n }) => [state, n]).toSorted()).toEqual([
        ['claimed', 1],
        ['succeeded', JOBS - 1],
      ])
    },
  )

  it.each([undefined, '1abc', 'none'])('share it although their outputs differ (digest %s)', async (digest) => {
    const path = ownFile()
    const { store, jobs, now } = await claimed(path)
    const texts = NUMBERS.map((number) => JSON.stringify('x'.repeat(number * 10)))
    const ends = jobs.map((job, i) => finished(job, now, texts[i] as string, digest))
    const beaten = jobs[3] as Job
    await store.heartbeat([{ id: beaten.id, fence: beaten.lease?.fence ?? '', requestId: 'b' }])
    const expected = jobs.map((job) => (job === beaten ? 'conflict' : 'applied'))
    expect(await statuses(store, ends)).toEqual(expected)
    const rest = ends.filter(({ before }) => before !== beaten)
    expect(count(path, 'ending')).toBe(JOBS - 1)
    const more = await store.insert(NUMBERS.map((number) => newJob(number + JOBS, now)))
    expect(more.items.every(({ status }) => status === 'inserted')).toBe(true)
    const asked = grant(JOBS)
    const answer = await store.claim(asked)
    const later = owned(answer, asked).map((job, i) => finished(job, answer.now, texts[i] as string, digest))
    expect(await statuses(store, later)).toEqual(Array(JOBS).fill('applied'))
    expect(count(path, 'ending')).toBe(JOBS)
    for (const { after, bodies } of [...rest, ...later]) {
      await expectTrue(store, after)
      const { items } = await store.load([{ id: after.id, bodies: ['output'] }])
      expect(items[0]?.bodies['output']).toBe(bodies[0]?.text)
    }
  })

  it('end although one of them has moved on: it alone is told so', async () => {
    const { store, jobs, now } = await claimed()
    const beaten = jobs[4] as Job
    await store.heartbeat([{ id: beaten.id, fence: beaten.lease?.fence ?? '', requestId: 'b' }])
    const gone = jobs[7] as Job
    expect(await statuses(store, [cancelled(gone, now)])).toEqual(['applied'])
    const ends = jobs.map((job) => completed(job, now))
    const expected = jobs.map((job) => (job === beaten || job === gone ? 'conflict' : 'applied'))
    expect(await statuses(store, ends)).toEqual(expected)
    for (const [i, { after }] of ends.entries()) if (expected[i] === 'applied') await expectTrue(store, after)
    expect((await recordOf(store, beaten.id))?.state).toBe('claimed')
    expect((await recordOf(store, gone.id))?.state).toBe('cancelled')
  })

  it('end once where they are said twice in one call', async () => {
    const { store, jobs, now } = await claimed()
    const ends = [...jobs, ...jobs].map((job) => completed(job, now))
    const expected = [...jobs.map(() => 'applied'), ...jobs.map(() => 'conflict')]
    expect(await statuses(store, ends)).toEqual(expected)
  })

  it('in whatever order they are said', async () => {
    const { store, jobs, now } = await claimed()
    const ends = [...jobs].reverse().map((job) => completed(job, now))
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('applied'))
    for (const { after } of ends) await expectTrue(store, after)
  })

  it('are late together', async () => {
    const { store, jobs, now } = await claimed()
    const ends = jobs.map((job) => ({ ...completed(job, now), notAfter: now - 1 }))
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('late'))
    expect((await recordOf(store, idText(1)))?.state).toBe('claimed')
  })

  it('go their own ways afterwards', async () => {
    const path = ownFile()
    const { store, jobs, now } = await claimed(path)
    const ends = jobs.map((job) => cancelled(job, now, 'everything'))
    await store.commit(ends)
    expect(count(path, 'ending')).toBe(1)
    const [first, second] = ends.map(({ after }) => after) as [Job, Job]
    expect(await statuses(store, [{ kind: 'purge', before: first }])).toEqual(['applied'])
    const decision = decide(second, { type: 'reopen', actor: 'operator', requestId: 'r', reason: 'again' }, now)
    if (decision.kind !== 'accepted') throw new Error('refused')
    const { job: reopened, events } = decision
    const nothing = { bodies: [], give: [], take: [], spawn: undefined, notAfter: undefined }
    const reopening = { kind: 'move', before: second, after: reopened, events, ...nothing } as const
    expect(await statuses(store, [reopening])).toEqual(['applied'])
    await expectTrue(store, reopened)
    expect(await recordOf(store, first.id)).toBeUndefined()
    for (const { after } of ends.slice(2)) await expectTrue(store, after)
    const ended = { states: ['cancelled'], endedBefore: now + 1, order: 'oldest', limit: 100 } as const
    const { jobs: old } = await store.find(ended)
    expect(old).toEqual(ends.slice(2).map(({ after }) => after))
    await store.commit(old.map((before) => ({ kind: 'purge', before })))
    expect(count(path, 'ending')).toBe(0)
    expect((await store.find(ended)).jobs).toEqual([])
  })
})

describe('an end', () => {
  it('of a lease that came by commit has its whole history', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    onTestFinished(() => store.close())
    const now = await clockOf(store)
    const items = NUMBERS.map((number) => newJob(number, now))
    await store.insert(items)
    const { nonce, requestId } = grant(JOBS)
    const nothing = { bodies: [], give: [], take: [], spawn: undefined, notAfter: undefined }
    const claims = items.map(({ job: before }): Change & { kind: 'move' } => {
      const decision = decide(before, { type: 'claim', actor: 'worker:w', requestId, workerId: 'w', nonce }, now)
      if (decision.kind !== 'accepted') throw new Error('refused')
      return { kind: 'move', before, after: decision.job, events: decision.events, ...nothing }
    })
    expect(await statuses(store, claims)).toEqual(Array(JOBS).fill('applied'))
    const ends = claims.map(({ after }) => completed(after, now))
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('applied'))
    for (const { after } of ends) await expectTrue(store, after)
  })

  it.each([1, 200, 201, 100_000])('with an output of %i characters keeps it', async (length) => {
    const { store, jobs, now } = await claimed()
    const text = 'x'.repeat(length)
    const ends = jobs.map((job) => ({ ...completed(job, now), bodies: [{ name: 'output', text }] }))
    expect(await statuses(store, ends)).toEqual(Array(JOBS).fill('applied'))
    const { items } = await store.load(jobs.map(({ id }) => ({ id, bodies: ['output'] })))
    expect(items.map((item) => item?.bodies['output'])).toEqual(jobs.map(() => text))
  })
})
