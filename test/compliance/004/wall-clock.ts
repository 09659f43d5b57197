/** Document 004: how long a job may take. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { defineJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import { openGatewayFixture } from '../../gateway/gateway-fixture.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, strict, stuck } from './jobs.ts'

export function wallClock(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('004:69 a job that takes longer than its wall clock is failed (shortened)', async () => {
    const each = actor({ deadline: '400ms' })
    const { job } = await each.running()
    await each.until(job.id, 'timed_out')
    expect(await each.view(job.id)).toMatchObject({ state: 'failed', error_code: 'E_TIMEOUT' })
    expect(deriveDialect('004', await each.log(job.id))).toMatchObject({ status: 'failed', violations: [] })
  })
}

export function wallClockInVirtualTime(): void {
  it('004:69 the wall clock begins with the first start: nothing runs out while a job waits in the queue', async () => {
    const job = stuck({ deadline: '300s', timeout: '1h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job, {}, { delay: '2h' })
    await testing.advance('2h')
    await testing.advance('299s')
    expect((await testing.pawl.get(id))?.state).toBe('running')
    await testing.advance('2s')
    const ended = await testing.pawl.get(id)
    expect(ended).toMatchObject({ state: 'timed_out', error: { code: 'E_TIMEOUT' } })
  })

  it('004:69 retries count towards it, and one that would come too late is not made', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      deadline: '10s',
      retry: { jitter: 'none' },
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    const { id } = await testing.pawl.enqueue(failing)
    await testing.advance('60s')
    // At 0, 2 and 6 s; the next would have been at 14 s.
    expect(at).toHaveLength(3)
    expect(await testing.pawl.get(id)).toMatchObject({ state: 'failed', error: { code: 'network_error' } })
    expect((await testing.pawl.events(id)).at(-1)).toMatchObject({ reason: 'wall_clock', from: 'running' })
  })

  it('004:69 a submission that is waited for has 300 s, whatever its type has', async () => {
    await using fixture = await openGatewayFixture()
    const submit = async (query: string, policy: object) => {
      const words = { type: fresh('type'), queue: fresh('queue'), policy: { ...strict, ...policy } }
      const { status, body } = await fixture.ask('producer', 'POST', `/v1/jobs${query}`, words)
      const { body: shown } = await fixture.ask(
        'producer',
        'GET',
        `/v1/jobs/${body['jobId'] ?? body['id']}?policy=true`,
      )
      return [status, (shown['policy'] as { readonly deadlineMs?: number }).deadlineMs]
    }
    expect(await submit('?wait=0', {})).toEqual([202, 300_000])
    expect(await submit('?wait=0', { deadline: '2h' })).toEqual([202, 300_000])
    expect(await submit('?wait=0', { deadline: '30s' })).toEqual([202, 30_000])
    expect(await submit('', {})).toEqual([201, undefined])
    expect(await submit('', { deadline: '2h' })).toEqual([201, 7_200_000])
    expect(await submit('?wait=0', { dialect: '003' })).toEqual([202, undefined])
  })

  it('004:69 who waits is answered with the result', async () => {
    await using fixture = await openGatewayFixture()
    const adds = defineJob({ ...strict, type: fresh('adds'), queue: 'adds', run: ({ n }: { n: number }) => n + 1 })
    await using _ = fixture.pawl.work([adds])
    const words = { type: adds.type, queue: 'adds', policy: strict, input: { n: 1 } }
    const { status, body, headers } = await fixture.ask('producer', 'POST', '/v1/jobs?wait', words)
    expect([status, body]).toMatchObject([200, { state: 'succeeded', result: 2 }])
    expect(headers.get('location')).toBe(`/v1/jobs/${body['jobId']}`)
    expect((await fixture.ask('producer', 'POST', '/v1/jobs?wait=400000', words)).status).toBe(400)
  })

  it('004:69 an asynchronous job may be given hours', async () => {
    const job = stuck({ deadline: '2h', timeout: '2h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('119m')
    expect((await testing.pawl.get(id))?.state).toBe('running')
    await testing.advance('2m')
    expect((await testing.pawl.get(id))?.state).toBe('timed_out')
  })
}
