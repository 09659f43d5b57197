/** Document 000, part A: retries and their delays. */
import { expect, it } from 'vitest'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, SOON } from './jobs.ts'

export function retries(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:37 retries back off exponentially, with jitter, up to a configurable interval', async () => {
    const each = actor({ retry: { attempts: 9, base: '8ms', factor: 2, max: '64ms', jitter: 'full' } })
    const { id } = await each.enqueue()
    const delays: number[] = []
    for (let n = 1; n <= 8; n += 1) {
      const { job, fence } = await each.begin(await each.claimed())
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      const { state, runAt = 0, updatedAt } = await each.job(id)
      expect(state).toBe('retrying')
      delays.push(runAt - updatedAt)
      expect(runAt - updatedAt).toBeLessThanOrEqual(Math.min(64, 8 * 2 ** (n - 1)))
    }
    const caps = delays.map((_, i) => Math.min(64, 8 * 2 ** i))
    expect(delays).not.toEqual(caps)
    expect(new Set(delays).size).toBeGreaterThan(2)
    expect(each.spec.policy.retry.factor).toBe(2)
  })

  it('000A:37 without jitter each delay is twice the one before it, until the longest', async () => {
    const each = actor({ retry: { attempts: 7, base: '2ms', max: '16ms', jitter: 'none' } })
    const { id } = await each.enqueue()
    const delays: number[] = []
    for (let n = 1; n <= 6; n += 1) {
      const { job, fence } = await each.begin(await each.claimed())
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      const { runAt = 0, updatedAt } = await each.job(id)
      delays.push(runAt - updatedAt)
    }
    expect(delays).toEqual([2, 4, 8, 16, 16, 16])
  })

  it.each([
    ['failed', 'failed'],
    ['dead_letter', 'dead_lettered'],
  ] as const)('000A:38 attempts spent: %s, if the policy says so', async (onExhausted, state) => {
    const each = actor({ onExhausted, retry: { attempts: 3, ...SOON } })
    const { id } = await each.enqueue()
    for (let n = 1; n <= 3; n += 1) {
      const { fence } = await each.begin(await each.claimed())
      await each.must(id, { type: 'fail', fence, fault: fault('network_error') })
    }
    expect(await each.view(id)).toMatchObject({ state, attempts: 3 })
    expect(await each.claim()).toBeUndefined()
  })
}
