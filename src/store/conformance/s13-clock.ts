/** S13: `now` in an answer is the store's clock and never runs backwards. */
import type { Time } from '../../core/job.ts'
import type { Store } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds } from './holds.ts'
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
]

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
