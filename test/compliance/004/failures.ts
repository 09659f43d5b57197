/** Document 004: counters and the classification of failures. */
import { expect, it } from 'vitest'
import { CODE_MEANS, DEFAULT_ERRORS } from '../../../src/core/errors.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import type { Stage } from '../stage.ts'
import { COUNTERS, jobsOn, SOON } from './jobs.ts'

export function failures(stage: () => Stage): void {
  const { actor, failedWith } = jobsOn(stage)

  it('004:57 the seven counters', async () => {
    const each = actor()
    const job = implementJob(each.spec, (_, ctx) => {
      for (const [name, value] of Object.entries(COUNTERS)) ctx.count(name, value)
      ctx.count('urls_processed')
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'succeeded')
    const shown = await each.view(id)
    expect(shown).toMatchObject({ ...COUNTERS, urls_processed: 9, duration_seconds: expect.any(Number) })
  })

  it('004:61 error_code, message and context: domain, url, attempt, worker_id', async () => {
    const each = actor()
    const context = { domain: 'example.org', url: 'https://example.org/a' }
    const id = await failedWith(each, 'E_ROBOTS', { context })
    expect(await each.view(id)).toMatchObject({
      error_code: 'E_ROBOTS',
      message: 'it was E_ROBOTS',
      context: { ...context, attempt: 1, worker_id: 'w1' },
    })
  })

  it('004:61 worker_id is who failed, whoever has the job now', async () => {
    const each = actor({ retry: SOON })
    const id = await failedWith(each, 'network_error')
    await each.begin(await each.claimed('w2'))
    expect(await each.view(id)).toMatchObject({ worker_id: 'w2', context: { attempt: 1, worker_id: 'w1' } })
    expect((await each.job(id)).lastFailure).toMatchObject({ worker: 'w1' })
  })

  it.each([
    ['E_URL_BAD', 'invalid_url', 'failed'],
    ['E_ROBOTS', 'robots_disallowed', 'failed'],
    ['E_403_WAF', '403_waf', 'retry_pending'],
    ['E_429_RATE', 'rate_limited', 'retry_pending'],
    ['E_5XX_ORIGIN', 'network_error', 'retry_pending'],
    ['E_PARSE', 'parse_error_strict', 'failed'],
    ['E_TIMEOUT', 'timeout_soft', 'retry_pending'],
    ['E_BROWSER', 'browser_crash', 'retry_pending'],
    ['E_QDRANT', 'qdrant_unavailable', 'retry_pending'],
    ['E_NEO4J', 'neo4j_write_lock', 'retry_pending'],
    ['E_GPU_OOM', undefined, 'retry_pending'],
  ])('004:63 code %s means %s: %s', async (code, means, state) => {
    expect(CODE_MEANS[code]).toBe(means)
    if (means !== undefined) expect(DEFAULT_ERRORS.get(code)).toBe(DEFAULT_ERRORS.get(means))
    const each = actor()
    expect((await each.view(await failedWith(each, code)))['state']).toBe(state)
  })
}
