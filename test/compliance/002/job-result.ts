/** Document 002: what a result says. */
import { expect, it } from 'vitest'
import { bodyRef } from '../../../src/core/body.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import type { Stage } from '../stage.ts'
import { ENDED, jobsOn } from './jobs.ts'

export function jobResult(stage: () => Stage): void {
  const { actor, at, stateOf } = jobsOn(stage)

  it('002:13 002:15 002:16 002:17 a success: job_id, result_ptr, worker_id, execution_ms', async () => {
    const run = await at('SUCCEEDED')
    expect((await run.actor.view(run.id))['JobResult']).toEqual({
      job_id: run.id,
      status: 'SUCCEEDED',
      result_ptr: 'mem://out/1',
      worker_id: 'w1',
      execution_ms: 12,
    })
  })

  it('002:15 result_ptr of a value that pawl keeps is a URI, of none there is none', async () => {
    const run = await at('RUNNING')
    const text = '{"chunks":3}'
    const words = { type: 'complete', fence: run.fence, result: bodyRef('output', text) } as const
    await run.actor.must(run.id, words, [{ name: 'output', text }])
    const { result_ptr } = (await run.actor.view(run.id))['JobResult'] as Record<string, string>
    expect(result_ptr).toBe(`pawl:/jobs/${run.id}/output`)
    expect(new URL(String(result_ptr)).protocol).toBe('pawl:')
    expect(await run.actor.pawl.body(run.id, 'output')).toEqual({ chunks: 3 })
    const silent = await at('RUNNING')
    await silent.actor.must(silent.id, { type: 'complete', fence: silent.fence })
    expect((await silent.actor.view(silent.id))['JobResult']).not.toHaveProperty('result_ptr')
  })

  it('002:18 a failure: error_code and error_message', async () => {
    const run = await at('FAILED')
    const said = { status: 'FAILED', error_code: 'bad_request', error_message: 'it was bad_request' }
    expect((await run.actor.view(run.id))['JobResult']).toMatchObject({ ...said, execution_ms: 5 })
  })

  it.each(ENDED)('002:14 status %s', async (status) => {
    const run = await at(status)
    expect((await run.actor.view(run.id))['JobResult']).toMatchObject({ job_id: run.id, status })
  })

  it('002:14 002:57 a worker that cancels its own job: CANCELLED', async () => {
    const run = await at('RUNNING')
    await run.actor.must(run.id, { type: 'cancel', mode: 'soft', fence: run.fence })
    expect(await stateOf(run)).toBe('CANCELLED')
  })

  it('002:57 the worker runtime reports execution time', async () => {
    const each = actor()
    const job = implementJob(each.spec, async () => {
      const until = performance.now() + 5
      while (performance.now() < until);
      return 1
    })
    await using _ = each.pawl.work([job], { id: 'worker-9' })
    const { id } = await each.scheduled()
    await each.until(id, 'succeeded')
    const result = (await each.view(id))['JobResult'] as Record<string, unknown>
    expect(result).toMatchObject({ worker_id: 'worker-9' })
    expect(result['execution_ms']).toBeGreaterThanOrEqual(4)
  })
}
