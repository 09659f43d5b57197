/** Document 000, part B: its six states. */
import { expect, it } from 'vitest'
import { bodyRef } from '../../../src/core/body.ts'
import { startGateway } from '../../../src/gateway/serve.ts'
import { Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, ENDED, SOON, STATES } from './jobs.ts'

export function states(stage: () => Stage): void {
  const actor = bound(stage)

  it.each([
    ['000B:89', 'queued'],
    ['000B:90', 'assigned'],
    ['000B:91', 'running'],
    ['000B:92', 'succeeded'],
    ['000B:93', 'failed'],
    ['000B:94', 'cancelled'],
  ] as const)('%s %s is what its job shows', async (_, state) => {
    const each = actor()
    const id = await STATES[state](each)
    expect(await each.view(id)).toMatchObject({ job_id: id, state })
  })

  it('000B:90 an assigned job has a lease and has executed nothing', async () => {
    const each = actor()
    const { job } = await each.assigned()
    expect(job).toMatchObject({ lease: { expiresAt: expect.any(Number) }, startedAt: undefined, executionMs: 0 })
  })

  it('000B:92 success and its result are one write: refused, it leaves nothing behind', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    const text = '{"pages":3}'
    const result = bodyRef('output', text)
    const bodies = [{ name: 'output', text }]
    const late = await each.say(job.id, { type: 'complete', fence: `${fence}0`, result }, bodies)
    expect(late).toMatchObject({ ok: false, refusal: { code: 'STALE_FENCE' } })
    expect(await each.pawl.body(job.id, 'output')).toBeUndefined()
    await each.must(job.id, { type: 'complete', fence, result }, bodies)
    expect(await each.view(job.id)).toMatchObject({ state: 'succeeded' })
    expect(await each.pawl.result(job.id)).toEqual({ pages: 3 })
  })

  it('000B:93 what failed for good is among the dead letters, whatever its state is called', async () => {
    const each = actor({ retry: { attempts: 2, ...SOON } })
    const { id } = await each.enqueue()
    for (const _ of [1, 2]) {
      const { fence } = await each.begin(await each.claimed())
      await each.must(id, { type: 'fail', fence, fault: fault('network_error', { stage: 'fetch' }) })
    }
    expect(await each.view(id)).toMatchObject({ state: 'failed', stage: 'fetch', reason: 'network_error' })
    const engine = each.pawl.engine
    await using gateway = await startGateway({ engine, port: 0, auth: false, tenant: 'default' })
    const listed = async (query: string) => {
      const response = await fetch(`${gateway.url}/v1/dead-letters?limit=500${query}`)
      const { jobs } = (await response.json()) as { readonly jobs: readonly { id?: string; job_id?: string }[] }
      return jobs.some((job) => job.job_id === id || job.id === id)
    }
    expect(await listed('&dialect=000B')).toBe(true)
    expect(await listed('')).toBe(true)
  })

  it('000B:93 what is not tried again is forwarded as well: whoever redrives dead letters finds it, by all its names', async () => {
    const each = actor()
    const id = await ENDED.failed(each)
    const { deadLetter } = await each.job(id)
    expect(deadLetter).toMatchObject({ reason: 'exhausted_retries', attempts: 1, lastError: { code: 'bad_request' } })
    expect(await each.pawl.redrive({ queues: [each.queue] }, { dryRun: true })).toMatchObject({ matched: 1 })
    const { tally } = await each.pawl.events({ by: 'tally' })
    const mine = tally.filter(({ queue }) => queue === each.queue)
    expect(mine).toMatchObject([{ state: 'dead_lettered', count: 1 }])
  })

  it('000B:93 what fails bound to no document is no dead letter unless its type says so', async () => {
    const each = new Actor(stage(), { onExhausted: 'failed' })
    const id = await ENDED.failed(each)
    expect(await each.job(id)).toMatchObject({ state: 'failed', deadLetter: undefined })
    expect(await each.pawl.redrive({ queues: [each.queue] }, { dryRun: true })).toMatchObject({ matched: 0 })
  })
}
