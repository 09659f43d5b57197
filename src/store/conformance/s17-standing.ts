/**
 * S17: a claim that found nothing may stand, and be answered by whoever enqueues. Where and when one is answered is up
 * to the store, so a scene tries until one is; what then holds, holds every time.
 */
import type { Job } from '../../core/job.ts'
import { type ClaimAnswer, type ClaimedJob, type Grant, type Hint, type Lane, queueKey, type Store } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, Stage } from './stage.ts'

export const standing: readonly Scene[] = [
  {
    name: 'a claim that stands is answered by the next insert of anybody, and told so',
    needs: 'standing',
    async play(stage) {
      const heard: Hint[] = []
      await using _subscription = await stage.store.subscribe((hint) => heard.push(hint))
      const other = await stage.another()
      const [grant, job] = await answered(stage, {}, async () => {
        heard.length = 0
        return enqueue(stage, other, { input: '{"a":1}' })
      })
      await stage.eventually('its first lane is announced', () => heard.some((hint) => isAbout(hint, stage, 'main')))
      const before = await stage.now()
      const asked = { ...grant, nonce: 'ffffffffffffffff' }
      const answer = await stage.store.claim(asked)
      same([answer.replayed, idsOf(answer)], [false, [job.id]], 'asked for under its request, it is there')
      same(answer.nonce, grant.nonce, 'under the nonce of the grant that found nothing')
      same(answer.jobs[0]?.input, '{"a":1}', 'with its input')
      holds(answer.now >= before && answer.jobs.every(({ at }) => at <= answer.now), 'the clock does not run backwards')
      await asCoreDecides(stage, answer.jobs[0] as ClaimedJob, grant)
      const again = await stage.store.claim(asked)
      same([again.replayed, idsOf(again)], [true, [job.id]], 'once more, and it is a repetition')
      const record = await stage.record(job.id)
      await stage.say(record, { type: 'complete', fence: record.lease?.fence ?? '' })
      const spent = await stage.store.claim(asked)
      same([spent.jobs, spent.stands ?? false], [[], false], 'a request that is spent does not stand')
    },
  },
  {
    name: 'asked again before anything came it finds nothing, and stands on or stands no more, as it says',
    needs: 'standing',
    async play(stage) {
      await using _subscription = await stage.store.subscribe(() => {})
      const other = await stage.another()
      await answered(stage, {}, async (grant) => {
        same((await stage.store.claim(grant)).jobs, [], 'nothing has come')
        return enqueue(stage, other)
      }).then(([grant]) => stage.store.claim(grant))
      for (let round = 0; round < 5; round += 1) {
        const grant = await stood(stage)
        const { stand: _, ...rest } = grant
        const answer = await stage.store.claim({ ...rest, limit: 0 })
        same([answer.jobs, answer.stands ?? false], [[], false], 'nothing has come, and it stands no more')
        const job = await enqueue(stage, other)
        await stage.expectRecord(job, 'nobody stands for it: it is queued')
        same((await stage.store.claim({ ...rest, limit: 0 })).jobs, [], 'nor is it given to whoever asks for nothing')
        same(idsOf(await other.claim(stage.grant())), [job.id], 'another claimer gets it')
      }
    },
  },
  {
    name: 'a claim that does not say so does not stand',
    needs: 'standing',
    async play(stage) {
      await using _subscription = await stage.store.subscribe(() => {})
      const other = await stage.another()
      for (let round = 0; round < 5; round += 1) {
        same((await stage.claim()).jobs, [], 'nothing there')
        const job = await enqueue(stage, other)
        await stage.expectRecord(job, 'it is queued')
        same(idsOf(await other.claim(stage.grant())), [job.id], 'and to be had')
      }
    },
  },
  {
    name: 'nothing of another lane, nothing delayed and nothing of a paused queue is given to it',
    needs: 'standing',
    async play(stage) {
      await using _subscription = await stage.store.subscribe(() => {})
      const other = await stage.another()
      await pause(stage, 'p', true)
      const lanes = [lane(stage, 'p', 5), lane(stage, 'main', 5)]
      const elsewhere: readonly JobOptions[] = [
        { queue: 'b' },
        { priority: 4 },
        { tenant: `${stage.tenant}x` },
        { runAt: stage.begin + 3_600_000 },
        { queue: 'p' },
        { policy: { admission: true } },
      ]
      const [grant, job] = await answered(stage, { lanes }, async () => {
        for (const options of elsewhere) {
          const left = await enqueue(stage, other, options)
          await stage.expectRecord(left, `not for it: ${JSON.stringify(options)}`)
        }
        return enqueue(stage, other)
      })
      same(idsOf(await stage.store.claim(grant)), [job.id], 'what is for it, and nothing else')
    },
  },
  {
    name: 'what is older goes first, and never more than it asked for',
    needs: 'standing',
    async play(stage) {
      await using _subscription = await stage.store.subscribe(() => {})
      const other = await stage.another()
      await stage.eventually('the older ones are given', async () => {
        await pause(stage, 'main', true)
        const older = [await enqueue(stage, other), await enqueue(stage, other)]
        const grant = await stood(stage, { stand: { ms: 30_000, limit: 2 } })
        await pause(stage, 'main', false)
        const last = await enqueue(stage, other)
        await stage.expectRecord(last, 'its turn has not come')
        const state = (await stage.record((older[0] as Job).id)).state
        same(idsOf(await stage.store.claim(grant)), ids(older), 'in the order they came')
        same(idsOf(await other.claim(stage.grant())), [last.id], 'then the last')
        return state === 'claimed'
      })
    },
  },
  {
    name: 'of a batch bigger than its limit the rest is queued, and announced',
    needs: 'standing',
    async play(stage) {
      const heard: Hint[] = []
      await using _standing = await stage.store.subscribe(() => {})
      const other = await stage.another()
      await using _subscription = await other.subscribe((hint) => heard.push(hint))
      await stage.eventually('some of them are given', async () => {
        const grant = await stood(stage, { stand: { ms: 30_000, limit: 2 } })
        heard.length = 0
        const drafts = Array.from({ length: 5 }, () => stage.draft())
        await other.insert(drafts)
        const [first, second, ...rest] = drafts.map(({ job }) => job) as [Job, Job, ...Job[]]
        for (const job of rest) await stage.expectRecord(job, 'the rest is queued')
        const { state } = await stage.record(second.id)
        await stage.eventually('the rest is announced', () => heard.some((hint) => isAbout(hint, stage, 'main')))
        same(idsOf(await stage.store.claim(grant)), ids([first, second]), 'the first two')
        same(idsOf(await other.claim(stage.grant())), ids(rest), 'the rest is for others')
        return state === 'claimed'
      })
    },
  },
  {
    name: 'whose time is over is not answered any more',
    needs: 'standing',
    async play(stage) {
      await using _subscription = await stage.store.subscribe(() => {})
      const other = await stage.another()
      await stood(stage, { stand: { ms: 60, limit: 100 } })
      await stage.seat.advance(80)
      const job = await enqueue(stage, other)
      await stage.expectRecord(job, 'it is queued')
      same(idsOf(await other.claim(stage.grant())), [job.id], 'another claimer gets it')
      const [grant] = await answered(stage, {}, () => enqueue(stage, other))
      same((await stage.store.claim(grant)).jobs.length, 1, 'whoever has time left is')
    },
  },
  {
    name: 'of many that stand for one job one is answered',
    needs: 'standing',
    async play(stage) {
      const other = await stage.another()
      await using _mine = await stage.store.subscribe(() => {})
      await using _others = await other.subscribe(() => {})
      await stage.eventually('one of them is answered', async () => {
        const grants = await Promise.all(
          Array.from({ length: 8 }, (_, i) => stood(stage, {}, of(i, stage.store, other))),
        )
        const job = await enqueue(stage, other)
        const { state, lease } = await stage.record(job.id)
        const asked = await Promise.all(
          grants.map(({ stand: _, ...rest }, i) => of(i, stage.store, other).claim({ ...rest, limit: 0 })),
        )
        const winners = grants.filter((_, i) => (asked[i]?.jobs.length ?? 0) > 0)
        same(winners.length, state === 'claimed' ? 1 : 0, 'it has one owner, and that one knows')
        if (state === 'claimed') same(lease?.fence, `0.1.${winners[0]?.nonce}`, 'whose fence it has')
        else await stage.claim()
        return state === 'claimed'
      })
    },
  },
  {
    name: 'however many stand and enqueue at once, every job is owned once',
    needs: 'standing',
    async play(stage) {
      const other = await stage.another()
      await using _mine = await stage.store.subscribe(() => {})
      await using _others = await other.subscribe(() => {})
      const total = 120
      const owners = new Map<string, string>()
      const claimer = async (store: Store) => {
        for (
          let open = stage.grant({ limit: 2, stand: { ms: 30_000, limit: 2 } }), idle = 0;
          owners.size < total;
          idle += 1
        ) {
          holds(idle < 2_000, `all jobs come: ${owners.size} of ${total}`)
          const asked = { ...open, nonce: stage.grant().nonce }
          const { jobs, nonce = asked.nonce, replayed } = await store.claim(asked)
          same(replayed, false, 'nobody has seen it before')
          for (const { before } of jobs) {
            holds(!owners.has(before.id), 'a job is given once')
            owners.set(before.id, `0.1.${nonce}`)
          }
          if (jobs.length > 0) open = stage.grant({ limit: 2, stand: { ms: 30_000, limit: 2 } })
          else await stage.seat.advance(1)
        }
        await store.claim({ ...stage.grant(), limit: 0 })
      }
      const producer = async (store: Store) => {
        for (let n = 0; n < total / 4; n += 1) await enqueue(stage, store)
      }
      const stores = [stage.store, other, stage.store, other]
      await Promise.all([...stores.map(claimer), ...stores.map(producer)])
      const { items } = await stage.store.load(Array.from(owners.keys(), (id) => ({ id })))
      for (const item of items) same(item?.job.lease?.fence, owners.get(item?.job.id ?? ''), 'by whoever was given it')
      for (const id of [...owners.keys()].slice(0, 10)) await stage.expectFolds(id)
    },
  },
]

/** A claim that finds nothing, and stands. */
async function stood(stage: Stage, options: Partial<Grant> = {}, store = stage.store): Promise<Grant> {
  const grant = stage.grant({ stand: { ms: 30_000, limit: 100 }, ...options })
  const answer = await store.claim(grant)
  same([answer.jobs, answer.stands], [[], true], 'there is nothing yet, and it stands')
  return grant
}

/** Lets claims stand until one of them has been answered with what `make` enqueues. */
async function answered(
  stage: Stage,
  options: Partial<Grant>,
  make: (grant: Grant) => Promise<Job>,
): Promise<readonly [Grant, Job]> {
  let found: readonly [Grant, Job] | undefined
  await stage.eventually('a standing claim is answered', async () => {
    const grant = await stood(stage, options)
    const job = await make(grant)
    if ((await stage.record(job.id)).state === 'claimed') found = [grant, job]
    else same(idsOf(await stage.store.claim(grant)), [job.id], 'what is not given can be asked for')
    return found !== undefined
  })
  return found as readonly [Grant, Job]
}

async function enqueue(stage: Stage, store: Store, options: JobOptions = {}): Promise<Job> {
  const draft = stage.draft(options)
  same((await store.insert([draft])).items, [{ status: 'inserted' }], 'a new job is inserted')
  return draft.job
}

/** The record, its log and the answer tell the same story. */
async function asCoreDecides(stage: Stage, claimed: ClaimedJob, grant: Grant): Promise<void> {
  const { before, rev, attempt, leaseExpiresAt, at } = claimed
  const { workerId, nonce, actor, requestId } = grant
  const { job } = stage.decide(before, { type: 'claim', workerId, nonce, actor, requestId }, at)
  same([job.rev, job.attempt, job.lease?.expiresAt], [rev, attempt, leaseExpiresAt], 'stamped as core would')
  same(job.lease?.fence, `0.1.${grant.nonce}`, 'fenced by generation, attempt and nonce')
  await stage.expectRecord(job, 'the record is what core makes of it')
  const types = (await stage.events(job.id)).map(({ type }) => type)
  same(types, ['enqueued', 'claimed'], 'both are in its log')
  await stage.expectFolds(job.id)
}

const isAbout = (hint: Hint, { tenant }: Stage, queue: string): boolean =>
  hint.about === 'anything' || (hint.about === 'queue' && hint.tenant === tenant && hint.queue === queue)

const lane = ({ tenant }: Stage, queue: string, priority: number): Lane => ({ tenant, queue, priority })

const ids = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id)

const idsOf = ({ jobs }: ClaimAnswer): readonly string[] => jobs.map(({ before }) => before.id)

const of = (i: number, one: Store, two: Store): Store => (i % 2 === 0 ? one : two)

async function pause(stage: Stage, queue: string, paused: boolean): Promise<void> {
  const put = { op: 'put', collection: 'queue', key: queueKey(stage.tenant, queue), rev: undefined } as const
  const [answer] = await stage.store.settings([{ ...put, text: JSON.stringify({ paused }) }])
  same(answer?.status, 'ok', 'the queue is paused or resumed')
}
