/** S13: `now` in an answer is the store's clock and never runs backwards. */

import { evolve } from '../../core/evolve.ts'
import { stepBreaches } from '../../core/invariants.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Store } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { Stage } from './stage.ts'

export const clock: readonly Scene[] = [
  {
    name: 'every answer carries it, as whole milliseconds, never less than before',
    async play(stage) {
      let last: Time = stage.begin
      for (let round = 0; round < 5; round += 1) {
        for (const now of await everyAnswer(stage)) {
          holds(Number.isSafeInteger(now), 'whole milliseconds')
          holds(now >= last, `${now} is not before ${last}`)
          last = now
        }
      }
    },
  },
  {
    name: 'it goes on',
    async play(stage) {
      const before = await stage.now()
      await stage.seat.advance(30)
      holds((await stage.now()) >= before + 30, 'thirty milliseconds later it is thirty milliseconds later')
    },
  },
  {
    name: 'what is claimed is stamped with it',
    async play(stage) {
      const before = await stage.now()
      const job = await stage.claimed()
      const after = await stage.now()
      const at = job.lease?.grantedAt ?? 0
      holds(before <= at && at <= after, 'between the answers before and after')
    },
  },
  {
    name: 'two stores on the same data have the same clock',
    async play(stage) {
      const other = await stage.another()
      for (let round = 0; round < 5; round += 1) {
        const before = await stage.now()
        const between = await nowOf(other)
        const after = await stage.now()
        holds(before <= between && between <= after, 'the other’s time lies between')
      }
    },
  },
  {
    name: 'set back by ten minutes it goes on all the same, for whoever opens the store later too',
    needs: 'setClock',
    fresh: true,
    async play(stage) {
      const before = await stage.now()
      await setClock(stage, -TEN_MINUTES)
      holds((await stage.now()) >= before, 'it does not run backwards')
      await goesOn(stage)
      const other = await stage.another()
      const here = await stage.now()
      const there = await nowOf(other)
      const apartMs = Math.max(here - there, there - (await stage.now()))
      holds(apartMs < 2_000, `whoever opens the store has the same time, or nearly: ${apartMs} ms apart`)
    },
  },
  {
    name: 'set back, it keeps nobody waiting',
    needs: 'setClock',
    fresh: true,
    async play(stage) {
      const before = await stage.now()
      const queued = await stage.insertOne({ queue: 'ready', at: before })
      const delayed = await stage.insertOne({ queue: 'later', at: before, runAt: before + 500 })
      await setClock(stage, -TEN_MINUTES)
      await given(stage, queued)
      await goesOn(stage)
      await given(stage, await stage.insertOne({ queue: 'new', at: await stage.now() }))
      await given(stage, delayed)
    },
  },
  {
    name: 'set back, a little or a lot, it ends no lease that is renewed, and no event goes back with it',
    needs: 'setClock',
    fresh: true,
    async play(stage) {
      for (const byMs of [-200, -5_000, -TEN_MINUTES]) {
        const claimed = await stage.claimed({ policy: { leaseMs: 10_000 } })
        const started = await stage.say(claimed, { type: 'start', fence: fenceOf(claimed) }, await stage.now())
        await setClock(stage, byMs)
        await renewed(stage, started)
        await goesOn(stage)
        const job = await renewed(stage, started)
        const end = stage.change(job, { type: 'complete', fence: fenceOf(job) }, await stage.now())
        const verdicts = await stage.commit({ ...end, notAfter: job.lease?.expiresAt })
        same(verdicts, [{ status: 'applied' }], 'its owner may still speak')
        let record: Job | undefined
        for (const event of await stage.events(job.id)) {
          const after = evolve(record, event)
          same(stepBreaches(record, event, after), [], `nothing is wrong with ${event.type}`)
          record = after
        }
      }
    },
  },
  {
    name: 'set back, a job that something has just happened to can be claimed, and no event goes back with it',
    needs: 'setClock',
    fresh: true,
    async play(stage) {
      const born = await stage.insertOne({ queue: 'touched', at: await stage.now() })
      const touched = await stage.say(born, { type: 'signal', name: 's' }, await stage.now())
      await setClock(stage, -200)
      await given(stage, touched)
      const [, , claimed] = await stage.events(touched.id)
      holds((claimed?.at ?? 0) >= touched.updatedAt, 'it was claimed after that')
    },
  },
  {
    name: 'set forward by a day it goes along, and says so in every answer',
    needs: 'setClock',
    fresh: true,
    async play(stage) {
      const before = await stage.now()
      // Not by all of it where it had been set back: then it was ahead, and is caught up with.
      const delayed = await stage.insertOne({ queue: 'later', at: before, runAt: before + HALF_A_DAY })
      await setClock(stage, 2 * HALF_A_DAY)
      for (const now of await everyAnswer(stage)) holds(now >= before + HALF_A_DAY, 'half a day later at least')
      await given(stage, delayed)
    },
  },
]

const TEN_MINUTES = 600_000
const HALF_A_DAY = 12 * 3_600_000

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

async function setClock(stage: Stage, byMs: number): Promise<void> {
  holds(stage.seat.setClock !== undefined, 'the seat’s clock can be set')
  await stage.seat.setClock(byMs)
}

/** Somebody asks what is due, as somebody always does: by then at the latest time passes again. */
async function goesOn(stage: Stage): Promise<void> {
  const stood = await stage.now()
  await stage.eventually('time goes on', async () => {
    await stage.store.due(1)
    return (await stage.now()) > stood + 20
  })
}

async function given(stage: Stage, { id, spec }: Job): Promise<void> {
  await stage.eventually('it is claimed', async () => {
    await stage.store.due(1)
    const { jobs } = await stage.claim({ queue: spec.kind.queue })
    return jobs.some(({ before }) => before.id === id)
  })
  const { at = 0, type } = (await stage.events(id)).at(-1) ?? {}
  holds(type === 'claimed' && at <= (await stage.now()), 'at a time that has come')
}

async function renewed(stage: Stage, { id, lease }: Job): Promise<Job> {
  const before = await stage.record(id)
  const beat = { id, fence: lease?.fence ?? '', requestId: stage.requestId() }
  const [beaten] = (await stage.store.heartbeat([beat])).items
  holds(beaten?.status === 'renewed', `the lease is renewed, not ${beaten?.status}`)
  holds(beaten.leaseExpiresAt >= (before.lease?.expiresAt ?? 0), 'and ends no sooner for it')
  return stage.record(id)
}

const nowOf = async (store: Store): Promise<Time> => (await store.load([])).now

async function everyAnswer(stage: Stage): Promise<readonly Time[]> {
  const { store } = stage
  const inserted = await store.insert([stage.draft()])
  const loaded = await store.load([])
  const claimed = await stage.claim()
  const committed = await store.commit([])
  const beaten = await store.heartbeat([])
  const ticked = await store.due(0)
  const found = await store.find({ order: 'newest', limit: 1 })
  const told = await store.events({ by: 'tally' })
  const [set] = await store.settings([{ op: 'get', collection: 'queue', key: 'none' }])
  return [inserted, loaded, claimed, committed, beaten, ticked, found, told, set].map(
    (answer) => answer?.now ?? Number.NaN,
  )
}
