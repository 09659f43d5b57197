import { expect, it } from 'vitest'
import { QUIET_MS } from '../../src/core/flow/quiet.ts'
import { Forgetting } from '../../src/engine/forgetting.ts'
import { EngineFixture } from './engine-fixture.ts'

const under = (...keys: readonly string[]) => ({ flow: { keys, fair: undefined } })

it('a key is kept for a job that waits for a signal; one that was forgotten all the same does not keep it from going on', async () => {
  const fixture = new EngineFixture()
  const { tenant } = fixture.kind
  const { job, fence } = await fixture.running(under('away'))
  await fixture.must(job.id, { type: 'wait', fence, name: 'go' })
  expect(await new Forgetting(fixture.store).round(fixture.clock.now())).toBe(0)
  const move = { key: 'away', rev: 1, next: 'forgotten' } as const
  const { verdicts } = await fixture.store.commit([{ kind: 'key', tenant, move }])
  expect(verdicts).toEqual([{ status: 'applied' }])
  await fixture.must(job.id, { type: 'signal', name: 'go' })
  expect((await fixture.claim()).map((each) => each.job.id)).toEqual([job.id])
  expect((await fixture.engine.limits({ tenant, limit: 10 })).limits).toEqual([])
  await fixture.enqueue(under('away'))
  expect((await fixture.engine.limits({ tenant, limit: 10 })).limits).toMatchObject([{ key: 'away', taken: 2 }])
})

it('keys are forgotten that are open, unused and without a signal for a day, and no others', async () => {
  const fixture = new EngineFixture()
  const { tenant } = fixture.kind
  const say = (key: string, ask: Parameters<typeof fixture.engine.sayToLimits>[0][number]['ask']) =>
    fixture.engine.sayToLimits([{ tenant, key, actor: 'operator:o', requestId: `${key}/${ask.type}`, ask }])
  const names = async () => (await fixture.engine.limits({ tenant, limit: 100 })).limits.map(({ key }) => key)
  for (const key of ['quiet', 'by hand', 'unset', 'restless', 'kept']) {
    const { id } = await fixture.enqueue(under(key))
    if (key !== 'kept') await fixture.must(id, { type: 'cancel', mode: 'hard' })
  }
  await say('by hand', { type: 'set', limit: { concurrency: 3 } })
  await say('unset', { type: 'set', limit: { concurrency: 3 } })
  await say('unset', { type: 'unset' })
  await say('restless', { type: 'reset' })
  const forgetting = new Forgetting(fixture.store)
  expect(await forgetting.round(fixture.clock.now())).toBe(2)
  expect(await names()).toEqual(['by hand', 'kept', 'restless'])
  expect(await forgetting.round(fixture.clock.now() + QUIET_MS + 1)).toBe(1)
  expect(await names()).toEqual(['by hand', 'kept'])
  // Whoever is named again is born again.
  await fixture.enqueue(under('quiet'))
  expect(await names()).toEqual(['by hand', 'kept', 'quiet'])
  // All are looked at once in a while, and not each round.
  expect(await forgetting.round(fixture.clock.now() + QUIET_MS + 2)).toBe(0)
})
