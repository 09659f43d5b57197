/** Lists are in the order of job numbers, which processes reserve in blocks: what was enqueued later stands above all the same. */
import { expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { EngineFixture } from './engine-fixture.ts'

it('two processes that enqueue now and then see their jobs in the order of time', async () => {
  const fixture = new EngineFixture()
  const engines = [fixture.engine, fixture.another()]
  const ids: string[] = []
  for (let n = 0; n < 6; n += 1) {
    const answer = await fixture.tryEnqueue({}, engines[n % 2])
    ids.unshift(answer.ok ? answer.job.id : '')
    fixture.clock.advance(5_000)
  }
  const { jobs } = await fixture.store.find({ order: 'newest', limit: 10 })
  expect(jobs.map(({ id }) => id)).toEqual(ids)
})

it('numbers go on from a block while it is fresh, and nothing is asked of the store', async () => {
  let asked = 0
  const settings = (store: Store): Store['settings'] => {
    const ask = store.settings.bind(store)
    return (words) => {
      asked += 1
      return ask(words)
    }
  }
  const fixture = new EngineFixture({ between: (store) => Object.assign(store, { settings: settings(store) }) })
  await fixture.enqueue()
  const first = asked
  for (let n = 0; n < 20; n += 1) await fixture.enqueue()
  expect(asked).toBe(first)
})
