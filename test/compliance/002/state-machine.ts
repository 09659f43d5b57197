/** Document 002: states and transitions. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../../src/core/dialects/registry.ts'
import type { Stage } from '../stage.ts'
import { jobsOn } from './jobs.ts'

export function stateMachine(stage: () => Stage): void {
  const { actor, at, stateOf } = jobsOn(stage)

  it.each([
    ['002:23', 'PENDING'],
    ['002:24', 'SCHEDULED'],
    ['002:25', 'DISPATCHED'],
    ['002:26', 'RUNNING'],
    ['002:27', 'SUCCEEDED'],
    ['002:28', 'FAILED'],
    ['002:29', 'CANCELLED'],
    ['002:30', 'DENIED'],
    ['002:31', 'TIMEOUT'],
  ] as const)('%s %s is what its job shows', async (_, state) => {
    expect(await stateOf(await at(state))).toBe(state)
  })

  it.each([
    ['002:37 002:38 002:39 002:40 002:41', 'SUCCEEDED', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']],
    ['002:42', 'FAILED', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'FAILED']],
    ['002:44', 'TIMEOUT', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'TIMEOUT']],
    ['002:45', 'DENIED', ['PENDING', 'SCHEDULED', 'DENIED']],
  ] as const)('%s the way to %s', async (_, state, way) => {
    const run = await at(state)
    const entries = await run.actor.log(run.id)
    const told = entries.map((entry) => entry['state'])
    expect(deriveDialect('002', entries)).toMatchObject({ status: state, violations: [] })
    expect(told).toEqual(way)
    // Nobody but the events themselves told any of it.
    const events = (await run.actor.events(run.id)).filter(({ seq, type }) => seq !== undefined && type !== 'stalled')
    expect(events).toHaveLength(way.length)
  })

  it('002:43 RUNNING → TIMEOUT: the reconciler marks what is stale (lease shortened)', async () => {
    const each = actor({}, { leaseMs: 1_000, heartbeatMs: 400 })
    const { job, fence } = await each.running()
    await each.until(job.id, 'timed_out')
    expect((await each.log(job.id)).map(({ state }) => state).slice(-2)).toEqual(['RUNNING', 'TIMEOUT'])
    expect((await each.log(job.id)).at(-1)).toMatchObject({ actor: 'system:reconciler', marks: 'stale' })
    await each.refused(job.id, { type: 'complete', fence }, 'ENDED', 'STALE_FENCE')
  })

  it('002:44 DISPATCHED → TIMEOUT: the reconciler marks what was not started in time', async () => {
    const each = actor({}, { leaseMs: 1_500, startWithinMs: 1_500 })
    const { job, fence } = await each.assigned()
    const startBy = ((await each.job(job.id)).lease?.grantedAt ?? Number.NaN) + 1_500
    // Whoever only says that it is there does not put that off.
    await each.must(job.id, { type: 'heartbeat', fence })
    expect((await each.job(job.id)).lease?.expiresAt).toBe(startBy)
    const ended = await each.until(job.id, 'timed_out')
    expect((await each.log(job.id)).at(-1)).toMatchObject({ actor: 'system:reconciler', marks: 'not-started' })
    expect((await each.events(job.id)).at(-1)).toMatchObject({
      type: 'timed_out',
      reason: 'not_started',
      actor: 'system:reconciler',
    })
    expect(ended.attempt).toBe(1)
    expect(ended.endedAt).toBeGreaterThanOrEqual(startBy)
  })

  it.each(['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING'] as const)('002:46 %s → CANCELLED', async (state) => {
    const run = await at(state)
    const before = await run.actor.log(run.id)
    await run.actor.must(run.id, { type: 'cancel', mode: 'hard' })
    expect(await stateOf(run)).toBe('CANCELLED')
    const after = await run.actor.log(run.id)
    expect(after.slice(0, -1)).toEqual(before)
    expect(after.map((entry) => entry['state']).slice(-2)).toEqual([state, 'CANCELLED'])
  })

  it('002:33 the table that bound jobs are judged by has the arrows of the diagram and no others', () => {
    const edges = DIALECTS['002'].table.filter(({ settled }) => settled === undefined)
    expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
      [
        ...['none → PENDING', 'PENDING → SCHEDULED', 'SCHEDULED → DISPATCHED', 'DISPATCHED → RUNNING'],
        ...['RUNNING → SUCCEEDED', 'RUNNING → FAILED', 'RUNNING → TIMEOUT', 'DISPATCHED → TIMEOUT'],
        ...['SCHEDULED → DENIED', 'PENDING → CANCELLED', 'SCHEDULED → CANCELLED', 'DISPATCHED → CANCELLED'],
        'RUNNING → CANCELLED',
      ].sort(),
    )
  })

  it.each([
    ['002:47', 'SUCCEEDED'],
    ['002:48', 'FAILED'],
    ['002:49', 'CANCELLED'],
    ['002:50', 'DENIED'],
    ['002:51', 'TIMEOUT'],
  ] as const)('%s nothing leads out of %s', async (_, state) => {
    const { actor: each, id, fence } = await at(state)
    await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
    await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
    if (state !== 'CANCELLED') await each.refused(id, { type: 'cancel', mode: 'hard' }, 'ENDED')
    await each.refused(id, { type: 'deadLetter', reason: 'timeout', stage: 'exec' }, 'ENDED')
    expect(await each.claim()).toBeUndefined()
  })
}
