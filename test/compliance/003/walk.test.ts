/** Document 003 walked by pawl's routes and read in its words alone. */
import { describe, expect, it } from 'vitest'
import { Routes } from '../routes.ts'

describe('003 walked over HTTP', () => {
  const words = async (routes: Routes, id: string) => (await routes.told(id)).map((entry) => entry['Event'])

  it('a job goes from Queued by a wait and a signal to Completed', async () => {
    await using routes = await Routes.of('003')
    const id = await routes.submit()
    expect(await routes.shown(id)).toMatchObject({ Job: id, State: 'Queued', JobStatus: 'StatusPending' })
    const first = await routes.claimed()
    await routes.owner(id, 'start', first)
    expect(await routes.shown(id)).toMatchObject({ State: 'Running', JobStatus: 'StatusRunning' })
    await routes.owner(id, 'wait', first, { name: 'approved' })
    expect(await routes.shown(id)).toMatchObject({ State: 'Waiting', JobStatus: 'StatusWaiting' })
    expect(await routes.operator(id, 'signal', { name: 'approved' })).toBe(200)
    expect(await routes.shown(id)).toMatchObject({ State: 'Queued', JobStatus: 'StatusPending' })
    const second = await routes.claimed('w2')
    await routes.owner(id, 'start', second)
    await routes.owner(id, 'complete', second)
    expect(await routes.shown(id)).toMatchObject({ State: 'Completed', JobStatus: 'StatusCompleted' })
    expect(await words(routes, id)).toEqual([
      ...['job_created', 'job_leased', 'job_waiting', 'wait_completed', 'job_leased', 'job_completed'],
    ])
  })

  it('a job goes by a retry to Failed', async () => {
    await using routes = await Routes.of('003')
    const id = await routes.submit({ retry: { base: 1, max: 1 } })
    for (const code of ['network_error', 'bad_request']) {
      const fence = await routes.claimed()
      await routes.owner(id, 'start', fence)
      await routes.owner(id, 'fail', fence, { code, message: 'no' })
    }
    expect(await routes.shown(id)).toMatchObject({ State: 'Failed', JobStatus: 'StatusFailed' })
    expect(await words(routes, id)).toEqual([
      ...['job_created', 'job_leased', 'job_requeued', 'job_leased', 'job_failed'],
    ])
  })

  it('a job goes to Cancelled while it runs, and not while it is Queued', async () => {
    await using routes = await Routes.of('003')
    const id = await routes.submit()
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(409)
    await routes.claimed()
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(200)
    expect(await words(routes, id)).toEqual(['job_created', 'job_leased', 'job_cancelled'])
  })
})
