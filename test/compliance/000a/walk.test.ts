/** Document 000, part A, walked by pawl's routes and read in its words alone. */
import { describe, expect, it } from 'vitest'
import { Routes } from '../routes.ts'

const FIELDS = ['id', 'job_id', 'type', 'ts', 'actor', 'correlation_id', 'cause', 'payload', 'version']

describe('000 part A, walked over HTTP', () => {
  it('a job goes from queued to succeeded, with a heartbeat, each event of the minimal schema', async () => {
    await using routes = await Routes.of('000A')
    const id = await routes.submit()
    expect(await routes.shown(id)).toMatchObject({ job_id: id, state: 'queued', attempts: 0 })
    const fence = await routes.claimed()
    expect(await routes.shown(id)).toMatchObject({ state: 'assigned', owner: 'w1', lease: expect.any(String) })
    await routes.owner(id, 'start', fence)
    await routes.owner(id, 'heartbeat', fence)
    expect(await routes.shown(id)).toMatchObject({ state: 'running', attempts: 1 })
    await routes.owner(id, 'complete', fence)
    expect(await routes.shown(id)).toMatchObject({ state: 'succeeded' })
    const log = await routes.told(id)
    expect(log.map(({ type }) => type).filter((type) => !/heartbeat|renewed/.test(String(type)))).toEqual([
      ...['job_claimed', 'job_started', 'job_succeeded'],
    ])
    expect(log.map(({ type }) => type)).toEqual(expect.arrayContaining(['job_heartbeat', 'job_lease_renewed']))
    for (const entry of log) expect(Object.keys(entry)).toEqual(expect.arrayContaining(FIELDS))
  })

  it('a job goes by a retry and an error that no retry helps to failed: the next claim says why there is one', async () => {
    await using routes = await Routes.of('000A')
    const id = await routes.submit({ retry: { base: 1, max: 1 } })
    const first = await routes.claimed()
    await routes.owner(id, 'start', first)
    await routes.owner(id, 'fail', first, { code: 'network_error', message: 'away' })
    expect(await routes.shown(id)).toMatchObject({ state: 'queued', attempts: 1 })
    const second = await routes.claimed('w2')
    await routes.owner(id, 'start', second)
    await routes.owner(id, 'fail', second, { code: 'bad_request', message: 'no' })
    expect(await routes.shown(id)).toMatchObject({ state: 'failed', attempts: 2 })
    const log = (await routes.told(id)).filter(({ type }) => !/heartbeat|renewed/.test(String(type)))
    expect(log.map(({ type }) => type)).toEqual([
      ...['job_claimed', 'job_started', 'job_claimed', 'job_started', 'job_failed'],
    ])
    expect(log[2]).toMatchObject({ cause: 'retry_scheduled: network_error', payload: { attempts: 2 } })
  })

  it('a job goes to cancelled while it runs, and not before', async () => {
    await using routes = await Routes.of('000A')
    const id = await routes.submit()
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(409)
    await routes.owner(id, 'start', await routes.claimed())
    expect(await routes.operator(id, 'cancel', { mode: 'hard' })).toBe(200)
    expect(await routes.shown(id)).toMatchObject({ state: 'cancelled' })
    expect((await routes.told(id)).at(-1)).toMatchObject({ type: 'job_cancelled' })
  })

  it('a job becomes a dead letter with its six fields', async () => {
    await using routes = await Routes.of('000A')
    const id = await routes.submit()
    await routes.claimed()
    const letter = { reason: 'policy_violation', stage: 'exec', message: 'not allowed' }
    expect(await routes.operator(id, 'deadletter', letter)).toBe(200)
    expect(await routes.shown(id)).toMatchObject({
      state: 'dead_lettered',
      reason_code: 'policy_violation',
      last_error: 'not allowed',
      attempts: 1,
      last_owner: 'w1',
      last_lease_expires_at: expect.any(String),
      correlation_id: expect.any(String),
    })
    expect((await routes.told(id)).map(({ type }) => type)).toEqual(['job_claimed', 'job_dead_lettered'])
  })
})
