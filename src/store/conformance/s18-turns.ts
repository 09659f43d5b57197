/** S18: who waits takes turns; each flow is first in, first out; lanes have a window; queues are paused whole. */
import { LANE_WINDOW, PATIENCE_MS } from '../../core/flow/hall.ts'
import type { Job, JobId } from '../../core/job.ts'
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, isHeld, limit, limited, lobbyOf, look, many, move, pause, takenOf } from './flows.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

const ONE = { host: { concurrency: 1 } }
const ids = (jobs: readonly Job[]): readonly JobId[] => jobs.map(({ id }) => id)

export const turns: readonly Check[] = [
  {
    name: 'a flow is first in, first out, by when its jobs may run, also for those that were taken back',
    async run(fixture) {
      const { begin } = fixture
      const later = await limited(fixture, { host: { concurrency: 3 } }, ...many(3, { at: begin - 1_000 }))
      const sooner = await limited(fixture, ONE, ...many(3, { at: begin - 2_000 }))
      same(await takenOf(fixture, 'host'), 3, 'those that came first were let in first')
      await limit(fixture, 'host', ONE.host)
      await limit(fixture, 'host', { concurrency: 2 })
      await limit(fixture, 'host', ONE.host)
      const order: JobId[] = []
      for (let n = 0; n < 6; n += 1) {
        const [next] = idsOf(await claims(fixture))
        order.push(next ?? '')
        await ends(fixture, next ?? '')
      }
      const stood = order[0] ?? ''
      holds(ids(later).includes(stood) || ids(sooner).includes(stood), 'one stood all the while')
      const rest = [...ids(sooner), ...ids(later)].filter((id) => id !== stood)
      same(order.slice(1), rest, 'then by their times, whoever had stood before')
    },
  },
  {
    name: 'however many wait at a key that is full, those of another are let in as if alone, in their order',
    async run(fixture) {
      const [running] = await limited(fixture, ONE, ...many(400))
      const others = ids(await limited(fixture, { other: { concurrency: 2 } }, ...many(5)))
      const begun = idsOf(await claims(fixture))
      same([...begun].sort(), [running?.id, ...others.slice(0, 2)].sort(), 'the one that the full key has, and two')
      for (const [n, next] of others.slice(2).entries()) {
        await ends(fixture, others[n] ?? '')
        same(idsOf(await claims(fixture)), [next], 'the next of the other key, and nobody of the full one')
      }
    },
  },
  {
    name: 'the more urgent goes first, where both wait for the same slot',
    async run(fixture) {
      const [running] = await limited(fixture, ONE, {})
      await claims(fixture)
      const [late] = await limited(fixture, ONE, { priority: 9 })
      const [soon] = await limited(fixture, ONE, { priority: 1 })
      await look(fixture)
      await ends(fixture, running?.id ?? '')
      same(await isHeld(fixture, soon?.id ?? ''), false, 'the urgent one')
      same(await isHeld(fixture, late?.id ?? ''), true, 'before the other')
    },
  },
  {
    name: 'turns are shared by weight: three to one over four hundred',
    async run(fixture) {
      const lane = { queue: 'fair', at: fixture.begin }
      await weigh(fixture, 'big', 3)
      await fixture.insert(...many(LANE_WINDOW, { ...lane, flow: { fair: 'first' } }))
      for (let n = 0; n < 4; n += 1)
        await fixture.insert(
          ...many(100, { ...lane, flow: { fair: 'big' } }),
          ...many(100, { ...lane, flow: { fair: 'small' } }),
        )
      const counts = { first: 0, big: 0, small: 0 }
      while (counts.big + counts.small < 400) {
        const given = await claims(fixture, { queue: 'fair', limit: 16 })
        holds(given.length > 0, 'somebody’s turn comes')
        for (const { before } of given) counts[before.spec.flow?.fair as keyof typeof counts] += 1
      }
      holds(Math.abs(counts.big - 3 * counts.small) <= LANE_WINDOW, `${counts.big} and ${counts.small}`)
    },
  },
  {
    name: 'whose turn it is does not depend on how many places are free at a time',
    async run(fixture) {
      await fixture.insert(...many(LANE_WINDOW, { flow: { fair: 'first' } }))
      const customers = ['a', 'b', 'c', 'd', 'e']
      for (const fair of customers) await fixture.insert(...many(30, { flow: { fair } }))
      same((await claims(fixture, { limit: LANE_WINDOW })).length, LANE_WINDOW, 'the first of all')
      const counts = new Map(customers.map((name) => [name, 0]))
      for (let n = 0; n < 2 * LANE_WINDOW; n += 1) {
        const [job] = await claims(fixture, { limit: 1 })
        const fair = job?.before.spec.flow?.fair ?? ''
        counts.set(fair, (counts.get(fair) ?? 0) + 1)
      }
      const each = [...counts.values()]
      holds(Math.max(...each) - Math.min(...each) <= customers.length, `${[...counts]}`)
    },
  },
  {
    name: 'one with very many does not make another wait',
    async run(fixture) {
      await fixture.insert(...many(1_000, { flow: { fair: 'many' }, at: fixture.begin - 1_000 }))
      const [job] = await fixture.insert({ flow: { fair: 'few' } })
      const given: JobId[] = []
      while (!given.includes(job?.id ?? '')) {
        holds(given.length <= 2 * LANE_WINDOW, `it comes within two windows, not after ${given.length}`)
        given.push(...idsOf(await claims(fixture, { limit: 8 })))
      }
    },
  },
  {
    name: 'one with jobs under many keys has as many turns as another with all under one',
    async run(fixture) {
      const keys = (name: string) => ({ [name]: {}, all: { concurrency: 2 } })
      const running = await limited(fixture, keys('first'), ...many(2))
      await claims(fixture)
      const flow = (fair: string, name: string) => ({ flow: { fair, keys: keys(name) } })
      await fixture.insert(
        ...Array.from({ length: 20 }, (_, n) => flow('many', `key-${n}`)),
        ...many(6, flow('one', 'key')),
      )
      await look(fixture)
      const given: (string | undefined)[] = []
      for (const { id } of running) await ends(fixture, id)
      while (given.length < 12) {
        const [next] = await claims(fixture, { limit: 1 })
        holds(next !== undefined, 'somebody’s turn comes')
        given.push(next.before.spec.flow?.fair)
        await ends(fixture, next.before.id)
      }
      const share = given.filter((fair) => fair === 'one').length
      holds(share >= 5 && share <= 6, `of twelve turns one had ${share}: ${given}`)
    },
  },
  {
    name: 'of a lane no more stand than its window, and it is filled again',
    async run(fixture) {
      const jobs = await limited(fixture, { host: {} }, ...many(LANE_WINDOW + 5))
      await look(fixture)
      same(await takenOf(fixture, 'host'), LANE_WINDOW, 'as many as its window')
      const { held, others } = await lobbyOf(fixture, jobs.at(-1)?.id ?? '')
      same([held, others], [true, 0], 'the last is held, and nobody else waits there')
      same((await claims(fixture, { limit: 3 })).length, 3, 'some are claimed')
      await fixture.eventually('and others come', async () => (await takenOf(fixture, 'host')) === LANE_WINDOW + 3)
    },
  },
  {
    name: 'a paused queue gives its slots back; resumed, it goes on where it was',
    async run(fixture) {
      const here = await limited(fixture, ONE, { queue: 'a' })
      const there = await limited(fixture, ONE, { queue: 'b' })
      await look(fixture)
      same(await takenOf(fixture, 'host'), 1, 'one stands')
      await pause(fixture, true, 'a')
      same(await isHeld(fixture, here[0]?.id ?? ''), true, 'nothing stands in a paused queue')
      same(idsOf(await claims(fixture, { queue: 'b' })), ids(there), 'the other queue has the slot')
      await ends(fixture, there[0]?.id ?? '')
      same(await claims(fixture, { queue: 'a' }), [], 'paused')
      await pause(fixture, false, 'a')
      same(await isHeld(fixture, here[0]?.id ?? ''), false, 'resumed, it is let in')
      same(idsOf(await claims(fixture, { queue: 'a' })), ids(here), 'and given')
    },
  },
  {
    name: 'what nobody claims within five seconds gives way to who waits for its slot, and comes back',
    async run(fixture) {
      // Two: the second waits for the slot of the first, and is the more urgent one of those who do.
      const [unserved] = await limited(fixture, ONE, ...many(2, { queue: 'nobody', priority: 0 }))
      const [served] = await limited(fixture, ONE, { queue: 'served' })
      await look(fixture)
      same(await isHeld(fixture, served?.id ?? ''), true, 'it waits')
      const began = await fixture.now()
      await fixture.setup.advance(PATIENCE_MS)
      await fixture.eventually('it is given', async () => (await claims(fixture, { queue: 'served' })).length === 1)
      holds((await fixture.now()) - began >= PATIENCE_MS, 'not before')
      same(await isHeld(fixture, unserved?.id ?? ''), true, 'the other is held')
      await ends(fixture, served?.id ?? '')
      await fixture.setup.advance(PATIENCE_MS)
      await fixture.eventually('and let in again', async () => {
        await look(fixture)
        return !(await isHeld(fixture, unserved?.id ?? ''))
      })
    },
  },
  {
    name: 'of two flows that stand in each other’s way unclaimed, the one that stood longer gives way, and the other stays',
    async run(fixture) {
      const two = { host: { concurrency: 2 } }
      const [longer] = await limited(fixture, two, { queue: 'a' })
      await look(fixture)
      await fixture.setup.advance(10)
      const [shorter] = await limited(fixture, two, { queue: 'b' })
      await look(fixture)
      same(await takenOf(fixture, 'host'), 2, 'both stand')
      const [waiting] = await limited(fixture, two, { queue: 'a' })
      await limited(fixture, two, { queue: 'b' })
      await look(fixture)
      same(await isHeld(fixture, waiting?.id ?? ''), true, 'and more of both wait')
      await fixture.setup.advance(PATIENCE_MS)
      await fixture.eventually('one gives way', async () => {
        await look(fixture)
        return isHeld(fixture, longer?.id ?? '')
      })
      same(await isHeld(fixture, shorter?.id ?? ''), false, 'nobody waits for the slot of the other any more')
      same(await takenOf(fixture, 'host'), 2, 'and what was freed has gone to who waited')
    },
  },
]

async function weigh(fixture: StoreFixture, key: string, weight: number): Promise<void> {
  const gate = { slots: undefined, cap: undefined, openAt: 0, since: 0, rate: undefined, rateMs: 0 }
  const next = { gate: { ...gate, budget: undefined, perMs: 0, weight }, text: '' }
  same((await move(fixture, { key, rev: 0, next }))?.status, 'applied', 'its weight is set')
}
