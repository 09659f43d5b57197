/** Document 000, part B: delays, and the stage of a failure. */
import { expect, it } from 'vitest'
import { STAGES } from '../../../src/core/job.ts'
import { retryDelayMs } from '../../../src/core/retry.ts'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound } from './jobs.ts'

export function retries(stage: () => Stage): void {
  const actor = bound(stage)

  it('000B:114 exponential backoff with jitter: 500 ms, ×2, at most 60 s', async () => {
    const each = actor({ retry: { attempts: 20 } })
    const { retry } = each.spec.policy
    expect(retry).toEqual({ baseMs: 500, factor: 2, maxMs: 60_000, jitter: 'full' })
    for (let n = 1; n <= 12; n += 1) {
      const delays = Array.from({ length: 50 }, (_, i) => retryDelayMs(retry, n, `seed ${i}`))
      expect(Math.max(...delays)).toBeLessThanOrEqual(Math.min(60_000, 500 * 2 ** (n - 1)))
      expect(new Set(delays).size).toBeGreaterThan(10)
    }
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    const { runAt = 0, updatedAt, state } = await each.job(job.id)
    expect(state).toBe('retrying')
    expect(runAt - updatedAt).toBeLessThanOrEqual(500)
  })

  it.each(STAGES)('000B:115 the stage %s of a failure is captured, with its reason', async (at) => {
    const each = actor({ retry: { attempts: 1 } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error', { stage: at }) })
    expect(await each.view(job.id)).toMatchObject({ state: 'failed', stage: at, reason: 'network_error' })
  })
}
