/** S13: `now` in an answer is the store's clock and never runs backwards. */

import { evolve } from '../../core/evolve.ts'
import { stepBreaches } from '../../core/invariants.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Store } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

export const clock: readonly Check[] = [
  {
    name: 'every answer carries it, as whole milliseconds, never less than before',
    async run(fixture) {
      let last: Time = fixture.begin
      for (let round = 0; round < 5; round += 1) {
        for (const now of await everyAnswer(fixture)) {
          holds(Number.isSafeInteger(now), 'whole milliseconds')
          holds(now >= last, `${now} is not before ${last}`)
          last = now
        }
      }
    },
  },
  {
    name: 'it goes on',
    async run(fixture) {
      const before = await fixture.now()
      await fixture.setup.advance(30)
      holds((await fixture.now()) >= before + 30, 'thirty milliseconds later it is thirty milliseconds later')
    },
  },
  {
    name: 'what is claimed is stamped with it',
    async run(fixture) {
      const before = await fixture.now()
      const job = await fixture.claimed()
      const after = await fixture.now()
      const at = job.lease?.grantedAt ?? 0
      holds(before <= at && at <= after, 'between the answers before and after')
    },
  },
  {
    name: 'two stores on the same data have the same clock',
    async run(fixture) {
      const other = await fixture.another()
      for (let round = 0; round < 5; round += 1) {
        const before = await fixture.now()
        const between = await nowOf(other)
        const after = await fixture.now()
        holds(before <= between && between <= after, 'the other’s time lies between')
      }
    },
  },
  {
    name: 'set back by ten minutes it goes on all the same, for whoever opens the store later too',
    needs: 'setClock',
    fresh: true,
    async run(fixture) {
      const before = await fixture.now()
      await setClock(fixture, -TEN_MINUTES)
      holds((await fixture.now()) >= before, 'it does not run backwards')
      await goesOn(fixture)
      const other = await fixture.another()
      const here = await fixture.now()
      const there = await nowOf(other)
      const apartMs = Math.max(here - there, there - (await fixture.now()))
      holds(apartMs < 2_000, `whoever opens the store has the same time, or nearly: ${apartMs} ms apart`)
    },
  },
  {
    name: 'set back, it keeps nobody waiting',
    needs: 'setClock',
    fresh: true,
    async run(fixture) {
      const before = await fixture.now()
      const queued = await fixture.insertOne({ queue: 'ready', at: before })
      const delayed = await fixture.insertOne({ queue: 'later', at: before, runAt: before + 500 })
      await setClock(fixture, -TEN_MINUTES)
      await given(fixture, queued)
      await goesOn(fixture)
      await given(fixture, await fixture.insertOne({ queue: 'new', at: await fixture.now() }))
      await given(fixture, delayed)
    },
  },
  {
    name: 'set back, a little or a lot, it ends no lease that is renewed, and no event goes back with it',
    needs: 'setClock',
    fresh: true,
    async run(fixture) {
      for (const byMs of [-200, -5_000, -TEN_MINUTES]) {
        const claimed = await fixture.claimed({ policy: { leaseMs: 10_000 } })
        const started = await fixture.say(claimed, { type: 'start', fence: fenceOf(claimed) }, await fixture.now())
        await setClock(fixture, byMs)
        await renewed(fixture, started)
        await goesOn(fixture)
        const job = await renewed(fixture, started)
        const end = fixture.change(job, { type: 'complete', fence: fenceOf(job) }, await fixture.now())
        const verdicts = await fixture.commit({ ...end, notAfter: job.lease?.expiresAt })
        same(verdicts, [{ status: 'applied' }], 'its owner may still speak')
        let record: Job | undefined
        for (const event of await fixture.events(job.id)) {
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
    async run(fixture) {
      const born = await fixture.insertOne({ queue: 'touched', at: await fixture.now() })
      const touched = await fixture.say(born, { type: 'signal', name: 's' }, await fixture.now())
      await setClock(fixture, -200)
      await given(fixture, touched)
      const [, , claimed] = await fixture.events(touched.id)
      holds((claimed?.at ?? 0) >= touched.updatedAt, 'it was claimed after that')
    },
  },
  {
    name: 'set forward by a day it goes along, and says so in every answer',
    needs: 'setClock',
    fresh: true,
    async run(fixture) {
      const before = await fixture.now()
      // Not by all of it where it had been set back: then it was ahead, and is caught up with.
      const delayed = await fixture.insertOne({ queue: 'later', at: before, runAt: before + HALF_A_DAY })
      await setClock(fixture, 2 * HALF_A_DAY)
      for (const now of await everyAnswer(fixture)) holds(now >= before + HALF_A_DAY, 'half a day later at least')
      await given(fixture, delayed)
    },
  },
]

const TEN_MINUTES = 600_000
const HALF_A_DAY = 12 * 3_600_000

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

async function setClock(fixture: StoreFixture, byMs: number): Promise<void> {
  holds(fixture.setup.setClock !== undefined, 'the setup’s clock can be set')
  await fixture.setup.setClock(byMs)
}

/** Somebody asks what is due, as somebody always does: by then at the latest time passes again. */
async function goesOn(fixture: StoreFixture): Promise<void> {
  const stood = await fixture.now()
  await fixture.eventually('time goes on', async () => {
    await fixture.store.due(1)
    return (await fixture.now()) > stood + 20
  })
}

async function given(fixture: StoreFixture, { id, spec }: Job): Promise<void> {
  await fixture.eventually('it is claimed', async () => {
    await fixture.store.due(1)
    const { jobs } = await fixture.claim({ queue: spec.kind.queue })
    return jobs.some(({ before }) => before.id === id)
  })
  const { at = 0, type } = (await fixture.events(id)).at(-1) ?? {}
  holds(type === 'claimed' && at <= (await fixture.now()), 'at a time that has come')
}

async function renewed(fixture: StoreFixture, { id, lease }: Job): Promise<Job> {
  const before = await fixture.record(id)
  const beat = { id, fence: lease?.fence ?? '', requestId: fixture.requestId() }
  const [beaten] = (await fixture.store.heartbeat([beat])).items
  holds(beaten?.status === 'renewed', `the lease is renewed, not ${beaten?.status}`)
  holds(beaten.leaseExpiresAt >= (before.lease?.expiresAt ?? 0), 'and ends no sooner for it')
  return fixture.record(id)
}

const nowOf = async (store: Store): Promise<Time> => (await store.load([])).now

async function everyAnswer(fixture: StoreFixture): Promise<readonly Time[]> {
  const { store } = fixture
  const inserted = await store.insert([fixture.draft()])
  const loaded = await store.load([])
  const claimed = await fixture.claim()
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
