/**
 * S17: a claim may wait for work. When it is answered is up to the store, within reason; what it is answered with is not.
 * Checks let a little time pass before they enqueue, so that stores which do more for a claim that waits have done it.
 */
import type { Job } from '../../core/job.ts'
import { type ClaimAnswer, type ClaimedJob, type Grant, type Lane, queueKey, type Store } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

export const wait: readonly Check[] = [
  {
    name: 'a claim that may wait is answered at once where there is something',
    async run(fixture) {
      const job = await fixture.insertOne({ input: '{"a":1}' })
      const { answer } = await waits(fixture)
      same(idsOf(await answered(fixture, answer)), [job.id], 'what was there')
    },
  },
  {
    name: 'a claim that waits is answered with the next job, whoever enqueues it, as core would have it',
    async run(fixture) {
      const other = await fixture.another()
      for (const store of [fixture.store, other]) {
        const { grant, answer } = await waits(fixture)
        const job = await enqueue(fixture, store, { input: '{"a":1}' })
        const before = await fixture.now()
        const given = await answered(fixture, answer)
        same([given.replayed, idsOf(given)], [false, [job.id]], 'it is the answer')
        same(given.jobs[0]?.input, '{"a":1}', 'with its input')
        const [claimed] = given.jobs as readonly [ClaimedJob]
        holds(claimed.at <= given.now && claimed.at >= fixture.begin, 'the clock does not run backwards')
        holds((await fixture.now()) >= before, 'nor for anybody else')
        await asCoreDecides(fixture, claimed, grant)
        const again = await fixture.store.claim({ ...grant, nonce: 'ffffffffffffffff', waitMs: 0 })
        same([again.replayed, idsOf(again)], [true, [job.id]], 'once more, and it is a repetition')
        const record = await fixture.record(job.id)
        await fixture.say(record, { type: 'complete', fence: record.lease?.fence ?? '' })
      }
    },
  },
  {
    name: 'it is answered with what becomes ready while it waits, of which nobody tells',
    async run(fixture) {
      const now = await fixture.now()
      const job = await fixture.insertOne({ runAt: now + 200 })
      const { answer } = await waits(fixture, { pollMs: 50 })
      same(idsOf(await answered(fixture, answer)), [job.id], 'its delay is over')
    },
  },
  {
    name: 'it is answered with what a queue holds that goes on, the oldest first, and never with more than it asked for',
    async run(fixture) {
      await pause(fixture, 'main', true)
      const older = [await fixture.insertOne(), await fixture.insertOne()]
      const { answer } = await waits(fixture, { limit: 2, pollMs: 50 })
      const last = await fixture.insertOne()
      await fixture.expectRecord(last, 'the queue is paused')
      await pause(fixture, 'main', false)
      same(idsOf(await answered(fixture, answer)), ids(older), 'in the order they came')
      await fixture.expectRecord(last, 'its turn has not come')
      same(idsOf(await fixture.claim()), [last.id], 'it is for others')
    },
  },
  {
    name: 'it is answered with nothing when its time is over, and takes nothing afterwards',
    async run(fixture) {
      const { answer } = await waits(fixture, { waitMs: 100 })
      const before = await fixture.now()
      const given = await answered(fixture, answer)
      same([given.replayed, given.jobs], [false, []], 'nothing came')
      holds(given.now >= before, 'by the clock of the end, not of the beginning')
      const job = await fixture.insertOne()
      await fixture.setup.advance(20)
      await fixture.expectRecord(job, 'it is queued')
      same(idsOf(await fixture.claim()), [job.id], 'and to be had')
    },
  },
  {
    name: 'aborted, it is answered with nothing, and takes nothing afterwards',
    async run(fixture) {
      const other = await fixture.another()
      for (const store of [fixture.store, other]) {
        const { answer, abort } = await waits(fixture)
        abort()
        same((await answered(fixture, answer)).jobs, [], 'nothing came')
        const job = await enqueue(fixture, store)
        await fixture.setup.advance(20)
        await fixture.expectRecord(job, 'it is queued')
        same(
          (await fixture.claim({ waitMs: 30_000, signal: AbortSignal.abort() })).jobs,
          [],
          'nor for one that never waited',
        )
        same(idsOf(await fixture.claim()), [job.id], 'it is to be had')
      }
    },
  },
  {
    name: 'aborted while it is given something, it tells what, or has not got it',
    async run(fixture) {
      const other = await fixture.another()
      let given = 0
      for (let round = 0; round < 24; round += 1) {
        const { answer, abort } = await waits(fixture)
        const job = await enqueue(fixture, round % 2 === 0 ? fixture.store : other)
        // From at once to long after it was answered.
        for (let turns = 0; turns < round; turns += 1) await Promise.resolve()
        if (round > 16) await fixture.setup.advance(round - 16)
        abort()
        const { jobs } = await answered(fixture, answer)
        given += jobs.length
        const claimed = jobs.length > 0 ? [job.id] : idsOf(await fixture.claim())
        same(claimed, [job.id], 'it is in one hand')
        const record = await fixture.record(job.id)
        await fixture.say(record, { type: 'complete', fence: record.lease?.fence ?? '' })
      }
      holds(given > 0, 'some of them were given something')
    },
  },
  {
    name: 'nothing of another lane, nothing delayed and nothing of a paused queue is given to it',
    async run(fixture) {
      const other = await fixture.another()
      await pause(fixture, 'p', true)
      const lanes = [lane(fixture, 'p', 5), lane(fixture, 'main', 5)]
      const { answer } = await waits(fixture, { lanes })
      const elsewhere: readonly JobOptions[] = [
        { queue: 'b' },
        { priority: 4 },
        { tenant: `${fixture.tenant}x` },
        { runAt: fixture.begin + 3_600_000 },
        { queue: 'p' },
        { policy: { admission: true } },
      ]
      for (const options of elsewhere) {
        const left = await enqueue(fixture, other, options)
        await fixture.setup.advance(10)
        await fixture.expectRecord(left, `not for it: ${JSON.stringify(options)}`)
      }
      const job = await enqueue(fixture, other)
      same(idsOf(await answered(fixture, answer)), [job.id], 'what is for it, and nothing else')
    },
  },
  {
    name: 'of a batch bigger than its limit the rest is for others',
    async run(fixture) {
      const other = await fixture.another()
      const { answer } = await waits(fixture, { limit: 2 })
      const drafts = Array.from({ length: 5 }, () => fixture.draft())
      await other.insert(drafts)
      const [first, second, ...rest] = drafts.map(({ job }) => job) as [Job, Job, ...Job[]]
      same(idsOf(await answered(fixture, answer)), ids([first, second]), 'the first two')
      for (const job of rest) await fixture.expectRecord(job, 'the rest is queued')
      same(idsOf(await other.claim(fixture.grant())), ids(rest), 'and to be had')
    },
  },
  {
    name: 'of many that wait for one job one is answered with it',
    async run(fixture) {
      const other = await fixture.another()
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, i) => waits(fixture, {}, i % 2 === 0 ? fixture.store : other)),
      )
      const job = await enqueue(fixture, other)
      await fixture.eventually('it has an owner', async () => (await fixture.record(job.id)).state === 'claimed')
      await fixture.setup.advance(20)
      for (const { abort } of claims) abort()
      const answers = await Promise.all(claims.map(({ answer }) => answered(fixture, answer)))
      const winners = claims.filter((_, i) => (answers[i]?.jobs.length ?? 0) > 0)
      same(winners.length, 1, 'it has one owner, and that one knows')
      same((await fixture.record(job.id)).lease?.fence, `0.1.${winners[0]?.grant.nonce}`, 'whose fence it has')
    },
  },
  {
    name: 'however many wait and enqueue at once, every job is owned once',
    async run(fixture) {
      const other = await fixture.another()
      const total = 120
      const owners = new Map<string, string>()
      const over = new AbortController()
      const claimer = async (store: Store) => {
        while (owners.size < total) {
          const grant = fixture.grant({ limit: 2, waitMs: 30_000, signal: over.signal })
          const { jobs, replayed } = await store.claim(grant)
          same(replayed, false, 'nobody has seen it before')
          for (const { before } of jobs) {
            holds(!owners.has(before.id), 'a job is given once')
            owners.set(before.id, `0.1.${grant.nonce}`)
          }
          if (over.signal.aborted) return
        }
        over.abort()
      }
      const producer = async (store: Store) => {
        for (let n = 0; n < total / 4; n += 1) await enqueue(fixture, store)
      }
      const stores = [fixture.store, other, fixture.store, other]
      let done = false
      const all = Promise.all([...stores.map(claimer), ...stores.map(producer)])
      void all.then(
        () => {
          done = true
        },
        () => {},
      )
      await fixture.eventually('all jobs come', () => done, 20_000)
      await all
      const { items } = await fixture.store.load(Array.from(owners.keys(), (id) => ({ id })))
      for (const item of items) same(item?.job.lease?.fence, owners.get(item?.job.id ?? ''), 'by whoever was given it')
      for (const id of [...owners.keys()].slice(0, 10)) await fixture.expectFolds(id)
    },
  },
]

interface Claim {
  readonly grant: Grant
  readonly answer: Promise<ClaimAnswer>
  readonly abort: () => void
}

/** A claim that waits for long enough, and has had a moment to begin with it. */
async function waits(fixture: StoreFixture, options: Partial<Grant> = {}, store = fixture.store): Promise<Claim> {
  const ends = new AbortController()
  const grant = fixture.grant({ waitMs: 30_000, signal: ends.signal, ...options })
  const answer = store.claim(grant)
  answer.catch(() => {})
  await fixture.setup.advance(20)
  return { grant, answer, abort: () => ends.abort() }
}

async function answered(fixture: StoreFixture, answer: Promise<ClaimAnswer>): Promise<ClaimAnswer> {
  let came = false
  const comes = () => {
    came = true
  }
  answer.then(comes, comes)
  await fixture.eventually('it is answered', () => came)
  return answer
}

async function enqueue(fixture: StoreFixture, store: Store, options: JobOptions = {}): Promise<Job> {
  const draft = fixture.draft(options)
  same((await store.insert([draft])).items, [{ status: 'inserted' }], 'a new job is inserted')
  return draft.job
}

/** The record, its log and the answer tell the same story. */
async function asCoreDecides(fixture: StoreFixture, claimed: ClaimedJob, grant: Grant): Promise<void> {
  const { before, rev, attempt, leaseExpiresAt, at } = claimed
  const { workerId, nonce, actor, requestId } = grant
  const { job } = fixture.decide(before, { type: 'claim', workerId, nonce, actor, requestId }, at)
  same([job.rev, job.attempt, job.lease?.expiresAt], [rev, attempt, leaseExpiresAt], 'stamped as core would')
  same(job.lease?.fence, `0.1.${grant.nonce}`, 'fenced by generation, attempt and nonce')
  await fixture.expectRecord(job, 'the record is what core makes of it')
  const types = (await fixture.events(job.id)).map(({ type }) => type)
  same(types, ['enqueued', 'claimed'], 'both are in its log')
  await fixture.expectFolds(job.id)
}

const lane = ({ tenant }: StoreFixture, queue: string, priority: number): Lane => ({ tenant, queue, priority })

const ids = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id)

const idsOf = ({ jobs }: ClaimAnswer): readonly string[] => jobs.map(({ before }) => before.id)

async function pause(fixture: StoreFixture, queue: string, paused: boolean): Promise<void> {
  const put = { op: 'put', collection: 'queue', key: queueKey(fixture.tenant, queue), rev: undefined } as const
  const [answer] = await fixture.store.settings([{ ...put, text: JSON.stringify({ paused }) }])
  same(answer?.status, 'ok', 'the queue is paused or resumed')
}
