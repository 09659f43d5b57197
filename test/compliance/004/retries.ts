/** Document 004: classes of errors, and delays. */
import { expect, it } from 'vitest'
import { defineJob, implementJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON, strict } from './jobs.ts'

const TRANSIENT = [
  ...['network_error', 'rate_limited', 'browser_crash', 'timeout_soft', 'qdrant_unavailable', 'neo4j_write_lock'],
]
export const PERMANENT = ['invalid_url', 'robots_disallowed', 'parse_error_strict', 'unsupported_mime', 'bad_request']
export const ANTI_BOT = ['captcha', '403_waf', '503_shield']

export function retries(stage: () => Stage): void {
  const { actor, failedWith } = jobsOn(stage)

  it.each(TRANSIENT)('004:38 %s is transient: retry_pending', async (code) => {
    const each = actor()
    const id = await failedWith(each, code)
    expect(await each.view(id)).toMatchObject({ state: 'retry_pending', error_code: code })
    expect((await each.job(id)).lastFailure?.class).toBe('transient')
  })

  it('004:40 base 2 s, factor 2, jitter, 7 attempts are the defaults of the document', async () => {
    const each = actor()
    expect(each.spec.policy).toMatchObject({ maxAttempts: 7, retry: { baseMs: 2_000, factor: 2, jitter: 'full' } })
    const { runAt = 0, updatedAt } = await each.job(await failedWith(each, 'network_error'))
    expect(runAt - updatedAt).toBeLessThanOrEqual(2_000)
    const exact = actor({ retry: { jitter: 'none' } })
    const job = await exact.job(await failedWith(exact, 'network_error'))
    expect((job.runAt ?? 0) - job.updatedAt).toBe(2_000)
  })

  it('004:40 004:18 an error that does not pass is tried 7 times, then failed (delays shortened)', async () => {
    const each = actor({ retry: SOON })
    let ran = 0
    const job = implementJob(each.spec, () => {
      ran += 1
      throw Object.assign(new Error('down'), { code: 'network_error' })
    })
    await using _ = each.pawl.work([job], { poll: 20 })
    const { id } = await each.enqueue()
    await each.until(id, 'failed')
    expect(ran).toBe(7)
    expect(await each.view(id)).toMatchObject({ state: 'failed', error_code: 'network_error', attempt: 7 })
  })

  it.each(PERMANENT)('004:41 004:43 %s is permanent: no retry, failed', async (code) => {
    const each = actor()
    const id = await failedWith(each, code)
    expect(await each.view(id)).toMatchObject({ state: 'failed', error_code: code, attempt: 1 })
    expect(await each.claim()).toBeUndefined()
  })

  it.each(ANTI_BOT)('004:44 004:46 %s slows down: a later start and a higher cap', async (code) => {
    const each = actor()
    const id = await failedWith(each, code)
    const { state, runAt = 0, updatedAt, lastFailure } = await each.job(id)
    expect([state, lastFailure?.class]).toEqual(['retrying', 'throttled'])
    const { throttled, retry } = each.spec.policy
    expect(throttled.maxMs).toBeGreaterThan(retry.maxMs)
    expect(runAt - updatedAt).toBeGreaterThanOrEqual(throttled.baseMs / 2)
    expect(throttled.baseMs / 2).toBeGreaterThan(retry.baseMs)
  })
}

export function retriesInVirtualTime(): void {
  it('004:40 seven attempts, each delay within 2 s · 2ⁿ⁻¹', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    const { id } = await testing.pawl.enqueue(failing)
    await testing.advance('290s')
    expect(at).toHaveLength(7)
    const delays = at.slice(1).map((time, i) => time - (at[i] ?? 0))
    for (const [i, delay] of delays.entries()) expect(delay).toBeLessThanOrEqual(2_000 * 2 ** i + 5)
    expect((await testing.pawl.get(id))?.state).toBe('failed')
  })

  it('004:40 without jitter the six retries wait for 2, 4, 8, 16, 32 and 64 s', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      retry: { jitter: 'none' },
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    await testing.pawl.enqueue(failing)
    await testing.advance('200s')
    const delays = at.slice(1).map((time, i) => Math.round((time - (at[i] ?? 0)) / 1_000))
    expect(delays).toEqual([2, 4, 8, 16, 32, 64])
  })
}
