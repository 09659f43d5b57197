import type { Chapter } from '../program.ts'
import { owned } from './settles.ts'

export const leases: Chapter = async (fixture) => {
  const { store } = fixture
  const [mine, asked] = await owned(fixture, 2)
  if (!mine || !asked) throw new Error('two are claimed')
  const fenceOf = ({ lease }: typeof mine) => lease?.fence ?? ''
  const beat = { id: mine.id, fence: fenceOf(mine), requestId: 'beat-1' }
  await store.heartbeat([beat])
  await store.heartbeat([beat, { ...beat, id: asked.id, fence: '0.1.ffffffffffffffff' }])
  await fixture.say(asked, { type: 'cancel', mode: 'soft' })
  await fixture.beat([{ id: asked.id, fence: fenceOf(asked), requestId: 'beat-2' }])

  await fixture.insert({ queue: 'short', policy: { leaseMs: 5_000 } })
  await fixture.claim({ queue: 'short' })
  await fixture.setup.advance(6_000)
  const { jobs, now } = await store.due(10)
  await store.due(10)
  for (const job of jobs.filter(({ lease }) => lease !== undefined && lease.expiresAt <= now)) {
    const stalled = await fixture.say(job, { type: 'stall' }, now)
    await fixture.say(stalled, { type: 'requeue' }, now)
    await fixture.expectFolds(job.id)
  }
}
