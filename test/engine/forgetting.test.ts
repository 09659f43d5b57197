import { expect, it } from 'vitest'
import { HEARD_MS } from '../../src/core/flow/numbers.ts'
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
  expect(await forgetting.round(fixture.clock.now() + QUIET_MS + HEARD_MS + 1)).toBe(1)
  expect(await names()).toEqual(['by hand', 'kept'])
  // Whoever is named again is born again.
  await fixture.enqueue(under('quiet'))
  expect(await names()).toEqual(['by hand', 'kept', 'quiet'])
  // All are looked at once in a while, and not each round.
  expect(await forgetting.round(fixture.clock.now() + QUIET_MS + HEARD_MS + 2)).toBe(0)
})

it('a key that was pushed back and is busy again is kept, with its session, for a day after its last success', async () => {
  const fixture = new EngineFixture()
  const { tenant } = fixture.kind
  const attempt = async (code?: string) => {
    const { job, fence } = await fixture.running(under('host'))
    if (code === undefined) await fixture.must(job.id, { type: 'complete', fence, stats: {}, executionMs: 0 })
    else await fixture.must(job.id, { type: 'fail', fence, fault: { code, message: code }, executionMs: 0 })
    if (code !== undefined) await fixture.must(job.id, { type: 'cancel', mode: 'hard' })
  }
  const session = async () => (await fixture.engine.limits({ tenant, limit: 1 })).limits[0]?.session
  await attempt('captcha')
  await fixture.engine.sayToLimits([
    { tenant, key: 'host', actor: 'operator:o', requestId: 'reset', ask: { type: 'reset' } },
  ])
  const forgetting = new Forgetting(fixture.store)
  for (let hours = 0; hours < 30; hours += 1) {
    fixture.clock.advance(HEARD_MS)
    await attempt()
    // Idle at every look, and busy in between.
    expect(await forgetting.round(fixture.clock.now())).toBe(0)
    expect(await session()).toBe(1)
  }
  fixture.clock.advance(QUIET_MS - 1)
  expect(await forgetting.round(fixture.clock.now())).toBe(0)
  fixture.clock.advance(HEARD_MS + 1)
  expect(await forgetting.round(fixture.clock.now())).toBe(1)
  expect(await session()).toBeUndefined()
})

it('keys of a tenant without any job are forgotten, also by a process that has never heard of it', async () => {
  const fixture = new EngineFixture()
  const jobless = [fixture.kind.tenant, 'by hand', 'kept by hand']
  const left = async () => {
    const pages = jobless.map((tenant) => fixture.engine.limits({ tenant, limit: 10 }))
    return (await Promise.all(pages)).map(({ limits }) => limits.length)
  }
  const { id } = await fixture.enqueue(under('host'))
  for (const tenant of jobless.slice(1))
    for (const type of tenant === 'by hand' ? (['set', 'reset', 'unset'] as const) : (['set'] as const)) {
      const ask = type === 'set' ? ({ type, limit: { concurrency: 1 } } as const) : ({ type } as const)
      await fixture.engine.sayToLimits([{ tenant, key: 'k', actor: 'operator:o', requestId: tenant + type, ask }])
    }
  const rounds = async () => {
    const forgetting = new Forgetting(fixture.store)
    let forgotten = 0
    do forgotten += await forgetting.round(fixture.clock.now())
    while (!forgetting.isAtItsEnd)
    return forgotten
  }
  expect(await rounds()).toBe(0)
  await fixture.must(id, { type: 'cancel', mode: 'hard' })
  await fixture.store.commit([{ kind: 'purge', before: await fixture.job(id) }])
  expect((await fixture.store.events({ by: 'tally' })).tally).toEqual([])
  expect(await left()).toEqual([1, 1, 1])
  fixture.clock.advance(QUIET_MS + HEARD_MS + 1)
  expect(await rounds()).toBe(2)
  expect(await left()).toEqual([0, 0, 1])
  const [noted] = await fixture.store.settings([{ op: 'list', collection: 'duty', after: '', limit: 10 }])
  expect(noted?.settings, 'only who has keys is looked at again').toHaveLength(1)
  expect(await rounds()).toBe(0)
})
