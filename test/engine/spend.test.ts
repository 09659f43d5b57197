/** What a word spends counts once, however often it is said, in one batch, again, and by another process. */
import { expect, it } from 'vitest'
import type { Word } from '../../src/engine/engine.ts'
import { mended } from '../../src/engine/mend.ts'
import { purged } from '../../src/engine/purge.ts'
import { verify } from '../../src/engine/verify.ts'
import { defineSpec } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { EngineFixture } from './engine-fixture.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const DAY_MS = 86_400_000
const LANES = [{ tenant: 'default', queue: 'default', priority: 5 }]
const frugal = defineSpec({
  type: 'frugal',
  limit: [
    { key: 'tokens', budget: { amount: 100, per: '30d' } },
    { key: 'all', budget: { amount: 100, per: '30d' } },
  ],
})

it.each(STORES)('%s: a spend that is repeated counts once, and another counts beside it', async (name) => {
  await using place = await PLACES[name]()
  await using pawl = await openAt(place)
  await pawl.enqueue(frugal, 1)
  const { job, fence } = await eventually('it to be let in', () =>
    pawl.contract.claimNext({ workerId: 'w', lanes: LANES, requestId: crypto.randomUUID() }),
  )
  await pawl.contract.start({ jobId: job.id, fence, requestId: 'start' })
  const spend = (requestId: string, amount: number, key?: string): Word => ({
    id: job.id,
    command: { type: 'record', actor: 'worker:w', fence, requestId, spend: { amount, key } },
  })
  const spent = async () => (await pawl.limits.list()).limits.map((limit) => [limit.key, limit.spent])
  const answers = await pawl.engine.settle([spend('first', 7), spend('first', 7), spend('second', 1.5, 'tokens')])
  expect(answers.map(({ ok }) => ok)).toEqual([true, true, true])
  const sums = [
    ['all', 7],
    ['tokens', 8.5],
  ]
  expect(await spent()).toEqual(sums)
  await pawl.engine.settle([spend('first', 7)])
  await pawl.engine.settle([spend('second', 1.5, 'tokens')])
  expect(await spent()).toEqual(sums)
  if (name !== 'memory') {
    // It knows nothing of the job, and is told so by the job's log.
    await using other = await openAt(place)
    const [again] = await other.engine.settle([spend('first', 7)])
    expect(again).toMatchObject({ ok: true })
    expect(await spent()).toEqual(sums)
  }
  const [mistaken] = await pawl.engine.settle([spend('first', 8)])
  expect(mistaken).toMatchObject({ ok: false })
  await pawl.contract.complete({ jobId: job.id, fence, requestId: 'done', result: 1 })
  expect(await spent()).toEqual(sums)
  expect((await pawl.verify()).discrepancies).toEqual([])
})

it('what a job has spent is counted when the job is gone, and nobody takes it for too much', async () => {
  const fixture = new EngineFixture()
  const { tenant } = fixture.kind
  const kind = {
    ...fixture.kind,
    policy: { ...fixture.kind.policy, limits: [{ budget: { amount: 9, perMs: DAY_MS } }] },
  }
  const spends = async (amount: number) => {
    const { job, fence } = await fixture.running({ kind, flow: { keys: ['tokens'], fair: undefined } })
    await fixture.must(job.id, { type: 'record', fence, spend: { amount } })
    await fixture.must(job.id, { type: 'complete', fence, stats: {}, executionMs: 0 })
    return job.id
  }
  const told = async () => (await verify(fixture.engine)).discrepancies.map(({ what }) => what)
  const counted = async () => (await fixture.engine.limits({ tenant, limit: 1 })).limits[0]?.spent
  const mend = (amount: number) =>
    fixture.store.commit([
      { kind: 'mend', tenant, keys: [], jobs: [], held: [], claims: [], spent: [{ key: 'tokens', amount }] },
    ])
  const gone = await spends(2)
  await spends(1)
  expect(await purged(fixture.store, [gone])).toEqual([true])
  expect([await told(), await counted()]).toEqual([[], 3])
  // In the next window nothing of what is gone can be counted any more.
  fixture.clock.advance(DAY_MS + 60_001)
  await spends(3)
  await mend(4)
  expect([await told(), await counted()]).toEqual([['key tokens counts 7 spent of its window, and logs have 3'], 7])
  expect(await mended(fixture.engine, fixture.store)).toMatchObject({ counts: 1 })
  expect([await told(), await counted()]).toEqual([[], 3])
})
