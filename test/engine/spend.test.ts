/** What a word spends counts once, however often it is said, in one batch, again, and by another process. */
import { expect, it } from 'vitest'
import type { Word } from '../../src/engine/engine.ts'
import { defineSpec } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, STORES } from './opened.ts'

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
