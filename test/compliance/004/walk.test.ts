/** Document 004 walked by pawl's routes and read in its words alone. */
import { describe, expect, it } from 'vitest'
import { Routes } from '../routes.ts'

describe('004 walked over HTTP', () => {
  const moves = async (routes: Routes, id: string) =>
    (await routes.told(id)).map(({ event, from = 'none', to }) => `${event}: ${from} → ${to}`)

  it('a job goes from accept by progress and heartbeats to complete, with its counters', async () => {
    await using routes = await Routes.of('004')
    const id = await routes.submit()
    expect(await routes.shown(id)).toMatchObject({ job_id: id, state: 'queued', attempt: 0 })
    const fence = await routes.claimed('crawler-1')
    expect(await routes.shown(id)).toMatchObject({ state: 'queued' })
    await routes.owner(id, 'start', fence)
    expect(await routes.shown(id)).toMatchObject({ state: 'running', worker_id: 'crawler-1', attempt: 1 })
    await routes.owner(id, 'progress', fence, { progress: { done: 1, total: 2 }, counters: { urls_processed: 1 } })
    await routes.owner(id, 'heartbeat', fence)
    await routes.owner(id, 'complete', fence, { stats: { documents_emitted: 3 }, executionMs: 500 })
    const counted = { urls_processed: 1, documents_emitted: 3, duration_seconds: 0.5 }
    expect(await routes.shown(id)).toMatchObject({ state: 'succeeded', progress: 1, ...counted })
    expect(await moves(routes, id)).toEqual([
      ...['accept: none → queued', 'start: queued → running', 'progress: running → running'],
      ...['heartbeat: running → running', 'complete: running → succeeded'],
    ])
  })

  it('a job goes by retry_pending to failed, with the worker that failed', async () => {
    await using routes = await Routes.of('004')
    const id = await routes.submit({ retry: { base: 1, max: 1 } })
    const context = { domain: 'example.org', url: 'https://example.org' }
    for (const [worker, code] of [
      ['w1', 'network_error'],
      ['w2', 'invalid_url'],
    ] as const) {
      const fence = await routes.claimed(worker)
      await routes.owner(id, 'start', fence)
      await routes.owner(id, 'fail', fence, { code, message: code, context })
      const state = worker === 'w1' ? 'retry_pending' : 'failed'
      const failed = { error_code: code, message: code, context: { ...context, worker_id: worker } }
      expect(await routes.shown(id)).toMatchObject({ state, ...failed })
    }
    expect(await moves(routes, id)).toEqual([
      ...['accept: none → queued', 'start: queued → running', 'error: running → retry_pending'],
      ...['start: retry_pending → running', 'error: running → failed'],
    ])
  })

  it('a job goes by cancel from queued to canceled', async () => {
    await using routes = await Routes.of('004')
    const id = await routes.submit()
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(200)
    expect(await routes.shown(id)).toMatchObject({ state: 'canceled', canceled_at: expect.any(String) })
    expect(await moves(routes, id)).toEqual(['accept: none → queued', 'cancel: queued → canceled'])
  })
})
