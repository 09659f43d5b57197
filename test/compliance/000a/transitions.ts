/** Document 000, part A: what leads from state to state, and what does not. */
import { expect, it } from 'vitest'
import { history } from '../../../src/core/dialects/history.ts'
import { DIALECTS } from '../../../src/core/dialects/registry.ts'
import { type Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, STATES } from './jobs.ts'

export function transitions(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:19 queued → assigned: the claim succeeds and a lease is acquired, in one commit', async () => {
    const each = actor()
    const { job, fence, leaseExpiresAt } = await each.assigned()
    expect(job).toMatchObject({ state: 'claimed', attempt: 1, lease: { fence, expiresAt: leaseExpiresAt } })
    expect((await each.job(job.id)).lease?.fence).toBe(fence)
    expect((await each.events(job.id)).map(({ type }) => type)).toEqual(['enqueued', 'claimed'])
  })

  it('000A:20 assigned → running: the worker acknowledges the start, which is the first heartbeat', async () => {
    const each = actor()
    const assigned = await each.assigned()
    const started = await each.must(assigned, { type: 'start', fence: assigned.fence, requestId: 'start' })
    expect(await each.view(assigned.job.id)).toMatchObject({ state: 'running' })
    const { lease } = await each.job(assigned.job.id)
    expect(lease?.beats).toBe(1)
    expect(lease?.expiresAt).toBeGreaterThanOrEqual(assigned.job.lease?.expiresAt ?? Number.NaN)
    const log = ['job_claimed', 'job_started', 'job_heartbeat', 'job_lease_renewed']
    expect((await each.log(assigned.job.id)).map(({ type }) => type)).toEqual(log)
    // Said again, it is answered as it was, and beats no second time.
    const again = await each.must(assigned, { type: 'start', fence: assigned.fence, requestId: 'start' })
    expect(again).toEqual({ ...started, replayed: true })
    await each.must(assigned, { type: 'heartbeat', fence: assigned.fence })
    expect((await each.job(assigned.job.id)).lease?.beats).toBe(2)
  })

  it.each([
    ['000A:72', 'succeeded'],
    ['000A:73', 'failed'],
    ['000A:74', 'cancelled'],
  ] as const)('000A:21 %s running → %s', async (_, state) => {
    const each = actor()
    const id = await STATES[state](each)
    expect((await each.events(id)).at(-1)).toMatchObject({ from: 'running', to: state })
    expect((await moves(each, id)).at(-1)).toEqual(['running', state, `job_${state}`])
  })

  it.each([
    ['000A:75', 'queued'],
    ['000A:76', 'assigned'],
    ['000A:77', 'running'],
  ] as const)('000A:22 %s %s → dead_lettered', async (_, state) => {
    const each = actor()
    const id = await STATES[state](each)
    const before = await moves(each, id)
    await each.must(id, { type: 'deadLetter', reason: 'infrastructure_failure', stage: 'exec' })
    expect(await each.view(id)).toMatchObject({ state: 'dead_lettered', reason_code: 'infrastructure_failure' })
    expect(await moves(each, id)).toEqual([...before, [state, 'dead_lettered', 'job_dead_lettered']])
  })

  it.each(['queued', 'assigned'] as const)('000A:18 there is no %s → cancelled', async (state) => {
    const each = actor()
    await each.refused(await STATES[state](each), { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
  })

  it.each([
    ['000A:78', 'succeeded'],
    ['000A:79', 'failed'],
    ['000A:80', 'cancelled'],
    ['000A:81', 'dead_lettered'],
  ] as const)('000A:18 %s nothing leads out of %s', async (_, state) => {
    const each = actor()
    const id = await STATES[state](each)
    const fence = (await each.job(id)).lastClaim?.fence ?? '0.1.0000000000000000'
    await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
    await each.refused(id, { type: 'heartbeat', fence }, 'ENDED', 'STALE_FENCE')
    await each.refused(id, { type: 'fail', fence, fault: fault('other') }, 'ENDED', 'STALE_FENCE')
    if (state !== 'succeeded') await each.refused(id, { type: 'complete', fence }, 'ENDED', 'STALE_FENCE')
    if (state !== 'cancelled') await each.refused(id, { type: 'cancel', mode: 'hard' }, 'ENDED')
    await each.refused(id, { type: 'deadLetter', reason: 'timeout', stage: 'exec' }, 'ENDED')
    await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
    expect(await each.claim()).toBeUndefined()
  })

  it('000A:69 000A:70 000A:71 a job is queued, claimed and started, each in one move of the diagram', async () => {
    const each = actor()
    const { job } = await each.running()
    expect(await moves(each, job.id)).toEqual([
      ['none', 'queued', undefined],
      ['queued', 'assigned', 'job_claimed'],
      ['assigned', 'running', 'job_started'],
    ])
  })

  it('000A:18 the table that bound jobs are judged by has the arrows of the diagram and no others', () => {
    const { table } = DIALECTS['000A']
    const edges = table.filter(({ settled, from, to }) => settled === undefined && from !== to)
    expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
      [
        ...['none → queued', 'queued → assigned', 'assigned → running', 'running → succeeded', 'running → failed'],
        ...['running → cancelled', 'queued → dead_lettered', 'assigned → dead_lettered', 'running → dead_lettered'],
      ].sort(),
    )
  })
}

/** The moves from state to state that tell a job's history, each with its word; what nobody made says so. */
async function moves(actor: Actor, id: string): Promise<readonly unknown[]> {
  const told = history(await actor.events(id), '000A').filter(({ step: { from, to } }) => from !== to)
  return told.map(({ step: { from, to, word, implied } }) => [from, to, implied && word ? `implied ${word}` : word])
}
