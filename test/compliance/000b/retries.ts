/** Document 000, part B: delays, and the stage of a failure. */
import { expect, it } from 'vitest'
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

  it('000B:114 without jitter each delay is twice the one before it: 500 ms, 1 s, 2 s … 60 s', async () => {
    const each = actor({ retry: { attempts: 20, jitter: 'none' } })
    const { retry } = each.spec.policy
    const delays = Array.from({ length: 10 }, (_, i) => retryDelayMs(retry, i + 1, 'any'))
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    const { runAt = 0, updatedAt } = await each.job(job.id)
    expect(runAt - updatedAt).toBe(500)
  })

  it.each(['fetch', 'input', 'exec', 'output', 'commit'] as const)(
    '000B:115 the stage %s of a failure is captured, with its reason',
    async (at) => {
      const each = actor({ retry: { attempts: 1 } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error', { stage: at }) })
      expect(await each.view(job.id)).toMatchObject({ state: 'failed', stage: at, reason: 'network_error' })
      expect((await each.job(job.id)).deadLetter).toMatchObject({ reason: 'exhausted_retries', stage: at })
    },
  )

  it('000B:115 a letter says why it was put aside: what it depends on was away, or its input is wrong', async () => {
    const each = actor({ retry: { attempts: 1 } })
    for (const [code, reason] of [
      ['E_QDRANT', 'dependency_unavailable'],
      ['validation_failed', 'validation_failed'],
    ] as const) {
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault(code) })
      expect((await each.job(job.id)).deadLetter).toMatchObject({ reason })
    }
  })
}
