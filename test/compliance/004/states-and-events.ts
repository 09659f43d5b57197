/** Document 004: its states and events. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../../src/core/dialects/registry.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { BEATS, COUNTERS, jobsOn } from './jobs.ts'

export function statesAndEvents(stage: () => Stage): void {
  const { actor, failedWith, at } = jobsOn(stage)

  it.each([
    ['004:14', 'queued'],
    ['004:15', 'running'],
    ['004:16', 'retry_pending'],
    ['004:17', 'succeeded'],
    ['004:18', 'failed'],
    ['004:19', 'canceled'],
  ] as const)('%s %s is what its job shows', async (_, state) => {
    const each = actor()
    const id = await at(state, each)
    expect(await each.view(id)).toMatchObject({ job_id: id, state, type: each.spec.type })
    expect(deriveDialect('004', await each.log(id))).toMatchObject({ status: state, violations: [] })
  })

  it('004:8 004:11 the table that bound jobs are judged by has the arrows of the document and no others', () => {
    const edges = DIALECTS['004'].table.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from} → ${to}`)
    expect(edges.sort()).toEqual(
      [
        ...['none → queued', 'queued → running', 'running → succeeded', 'running → failed', 'running → canceled'],
        ...['running → retry_pending', 'retry_pending → running', 'queued → canceled'],
      ].sort(),
    )
  })

  it('004:23 accept(job) → queued; 004:24 start(worker_id) → running', async () => {
    const each = actor()
    const { id } = await each.enqueue()
    expect(await each.view(id)).toMatchObject({ state: 'queued' })
    await each.begin(await each.claimed('crawler-3'))
    expect(await each.view(id)).toMatchObject({ state: 'running', worker_id: 'crawler-3', attempt: 1 })
    expect((await each.log(id)).map(({ event }) => event)).toEqual(['accept', 'start'])
  })

  it('004:25 heartbeat(t) refreshes updated_at', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'heartbeat', fence })
    const beaten = await each.job(job.id)
    expect(beaten.updatedAt).toBeGreaterThanOrEqual(job.updatedAt)
    expect(beaten.lease?.expiresAt).toBeGreaterThanOrEqual(job.lease?.expiresAt ?? 0)
    const beat = (await each.events(job.id)).at(-1)
    expect(await each.view(job.id)).toMatchObject({ updated_at: new Date(beat?.at ?? 0).toISOString() })
    expect((await each.log(job.id)).at(-1)).toMatchObject({ event: 'heartbeat', from: 'running', to: 'running' })
  })

  it('004:26 progress(n) updates counters and ETA', async () => {
    const each = actor({}, BEATS)
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const job = implementJob(each.spec, async (_, ctx) => {
      ctx.count('urls_processed', 3)
      ctx.progress({ done: 0, total: 12 })
      ctx.progress({ done: 3, total: 12, message: 'crawling' })
      await gate
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    const told = await eventually('progress', async () => {
      const { progress, counters } = await each.job(id)
      return progress !== undefined && { progress, counters }
    })
    const shown = await each.view(id)
    finish()
    expect((await each.log(id)).map(({ event }) => event)).toContain('progress')
    expect(shown).toMatchObject({
      urls_processed: 3,
      progress: 3,
      eta: new Date(told.progress.etaAt ?? 0).toISOString(),
    })
    expect(told.progress).toMatchObject({ done: 3, total: 12, message: 'crawling', etaAt: expect.any(Number) })
    expect(told.counters).toEqual({ urls_processed: 3 })
    await each.until(id, 'succeeded')
  })

  it('004:27 complete(stats) → succeeded', async () => {
    const each = actor()
    const id = await at('succeeded', each)
    expect(await each.view(id)).toMatchObject({ state: 'succeeded', ...COUNTERS, duration_seconds: 1.5 })
    expect((await each.log(id)).at(-1)).toMatchObject({ event: 'complete', from: 'running', to: 'succeeded' })
  })

  it('004:28 error(code) is classified, and leads to retry_pending or failed', async () => {
    const each = actor()
    const leads = async (code: string) => {
      const id = await failedWith(each, code)
      return (await each.log(id)).at(-1)
    }
    expect(await leads('network_error')).toMatchObject({ event: 'error', from: 'running', to: 'retry_pending' })
    expect(await leads('bad_request')).toMatchObject({ event: 'error', from: 'running', to: 'failed' })
  })

  it('004:29 cancel() is a best-effort stop; canceled', async () => {
    const each = actor({}, BEATS)
    const job = implementJob(each.spec, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      ctx.signal.throwIfAborted()
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'running')
    await each.pawl.cancel(id)
    await each.until(id, 'cancelled')
    expect(await each.view(id)).toMatchObject({ state: 'canceled', canceled_at: expect.any(String) })
    expect((await each.log(id)).at(-1)).toMatchObject({ event: 'cancel', from: 'running', to: 'canceled' })
  })
}
