/** Document 000, part B, walked by pawl's routes and read in its words alone. */
import { describe, expect, it } from 'vitest'
import { Routes } from '../routes.ts'

describe('000 part B, walked over HTTP', () => {
  it('a job goes from queued to succeeded: each transition with its time, actor, reason and correlation', async () => {
    await using routes = await Routes.of('000B')
    const id = await routes.submit()
    const fence = await routes.claimed()
    expect(await routes.shown(id)).toMatchObject({ job_id: id, state: 'assigned', attempts: 1 })
    await routes.owner(id, 'start', fence)
    await routes.owner(id, 'complete', fence)
    expect(await routes.shown(id)).toMatchObject({ state: 'succeeded' })
    const log = await routes.told(id)
    expect(log.map(({ state }) => state)).toEqual(['queued', 'assigned', 'running', 'succeeded'])
    const recorded = { timestamp: expect.any(String), actor: expect.any(String), reason: expect.any(String) }
    for (const entry of log) expect(entry).toMatchObject({ ...recorded, correlation_id: expect.any(String) })
  })

  it('a job goes by retries to failed, with the stage and the reason', async () => {
    await using routes = await Routes.of('000B')
    const id = await routes.submit({ retry: { attempts: 2, base: 1, max: 1 } })
    for (const worker of ['w1', 'w2']) {
      const fence = await routes.claimed(worker)
      await routes.owner(id, 'start', fence)
      await routes.owner(id, 'fail', fence, { code: 'network_error', message: 'away', stage: 'fetch' })
    }
    expect(await routes.shown(id)).toMatchObject({
      state: 'failed',
      attempts: 2,
      stage: 'fetch',
      reason: 'network_error',
    })
    expect((await routes.told(id)).map(({ state }) => state)).toEqual([
      ...['queued', 'assigned', 'running', 'queued', 'assigned', 'running', 'failed'],
    ])
  })

  it('a job goes to cancelled from queued', async () => {
    await using routes = await Routes.of('000B')
    const id = await routes.submit()
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(200)
    expect((await routes.told(id)).map(({ state }) => state)).toEqual(['queued', 'cancelled'])
  })
})
