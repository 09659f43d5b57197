/** S18: who will look at whoever is held, and what is derived made anew. */
import type { Mend } from '../store.ts'
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, isHeld, limit, limited, lobbyOf, look, many, takenOf } from './flows.ts'
import { same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

const ONE = { host: { concurrency: 1 } }

export const mending: readonly Check[] = [
  {
    name: 'who is held is told who will look: a key without room, or a time',
    async run(fixture) {
      const [first, second] = await limited(fixture, ONE, ...many(2))
      same(idsOf(await claims(fixture)), [first?.id], 'one of two')
      same((await lobbyOf(fixture, first?.id ?? '')).watch, undefined, 'nobody looks for an owner')
      const watch = (await lobbyOf(fixture, second?.id ?? '')).watch
      same([watch?.by, watch?.by === 'key' && watch.key], ['key', 'host'], 'whoever frees a slot of the key')
      const [later] = await limited(fixture, { other: {} }, { runAt: (await fixture.now()) + 60_000 })
      await look(fixture)
      same((await lobbyOf(fixture, later?.id ?? '')).watch?.by, 'time', 'its time')
    },
  },
  {
    name: 'what is whole stays as it is when it is made anew, and goes on',
    async run(fixture) {
      const jobs = await limited(fixture, ONE, ...many(3))
      const [owned] = await claims(fixture)
      const held = jobs.filter(({ id }) => id !== owned?.before.id)
      const owner = await fixture.record(owned?.before.id ?? '')
      for (let n = 0; n < 2; n += 1) await mends(fixture, { keys: ['host', 'nobody'], jobs: [owner], held })
      same(await takenOf(fixture, 'host'), 1, 'one slot, as before')
      same(await claims(fixture), [], 'nobody was let in by it')
      for (const { id } of held) same(await isHeld(fixture, id), true, `${id} is held`)
      await ends(fixture, owner.id)
      same(idsOf(await claims(fixture)), [held[0]?.id], 'the next, in the order in which they came')
    },
  },
  {
    name: 'what is added to a budget and to a rate counts as if it had been spent and claimed',
    async run(fixture) {
      const perMs = 3_600_000
      await limited(fixture, { paid: { budget: { amount: 10, perMs } } }, ...many(2))
      await limited(fixture, { paced: { rate: { most: 1, perMs } } }, { queue: 'p' })
      await look(fixture)
      const now = await fixture.now()
      await mends(fixture, { spent: [{ key: 'paid', amount: 10 }], claims: [{ key: 'paced', at: now }] })
      await mends(fixture, { keys: ['paid', 'paced'] })
      same(await claims(fixture), [], 'the budget is spent')
      same(await claims(fixture, { queue: 'p' }), [], 'the rate is used up')
      same(await limit(fixture, 'paid', {}), { status: 'applied' }, 'without a budget')
      same((await claims(fixture)).length, 2, 'they go on')
    },
  },
]

async function mends(fixture: StoreFixture, mend: Partial<Mend>): Promise<void> {
  const nothing = { tenant: fixture.tenant, keys: [], jobs: [], held: [], spent: [], claims: [] }
  const [verdict] = await fixture.commit({ kind: 'mend', ...nothing, ...mend })
  same(verdict?.status, 'applied', 'what is derived is made anew')
}
