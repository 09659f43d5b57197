/** Document 000, part A: its seven states. */
import { expect, it } from 'vitest'
import type { Stage } from '../stage.ts'
import { bound, STATES } from './jobs.ts'

export function states(stage: () => Stage): void {
  const actor = bound(stage)

  it.each([
    ['000A:10', 'queued', { attempts: 0 }],
    ['000A:11', 'assigned', { owner: 'w1', lease: expect.any(String) }],
    ['000A:12', 'running', { owner: 'w1', lease: expect.any(String) }],
    ['000A:13', 'succeeded', { artifacts: { report: 's3://b/report' } }],
    ['000A:14', 'failed', {}],
    ['000A:15', 'cancelled', {}],
    ['000A:16', 'dead_lettered', { reason_code: 'policy_violation' }],
  ] as const)('%s %s is what its job shows', async (_, state, fields) => {
    const each = actor()
    const id = await STATES[state](each)
    expect(await each.view(id)).toMatchObject({ job_id: id, state, ...fields })
  })

  it('000A:10 queued is visible to schedulers: it is found, and given to the first that asks', async () => {
    const each = actor()
    const { id } = await each.enqueue()
    expect((await each.pawl.find({ queues: [each.queue], states: ['queued'] })).jobs.map((job) => job.id)).toEqual([id])
    expect((await each.claim())?.job.id).toBe(id)
  })
}
