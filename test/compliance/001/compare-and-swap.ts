/** Document 001: revisions and owners. */
import { expect, it } from 'vitest'
import { Refused } from '../../../src/library/errors.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT } from './contract.ts'

export function compareAndSwap(stage: () => Stage): void {
  const { actor, contract, at, about, operations, NAMES, codeOf } = contractOn(stage)

  it.each(NAMES)('001:86 %s without expected_rev is refused', async (name) => {
    const each = actor(name === 'requeueStalled' ? SHORT : {})
    const from = name === 'start' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
    const held = await at[from](each)
    expect(await codeOf(operations[name](held, { expectedRev: undefined }))).toBe('REV_REQUIRED')
    expect(await each.job(held.job.id)).toEqual(held.job)
  })

  it.each(NAMES)('001:86 %s with a stale or invented expected_rev is refused', async (name) => {
    const each = actor(name === 'requeueStalled' || name === 'stall' ? SHORT : {})
    const from = name === 'start' || name === 'stall' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
    const held = await at[from](each)
    for (const expectedRev of [held.job.rev - 1, held.job.rev + 1])
      expect(await codeOf(operations[name](held, { expectedRev }))).toMatch(/^REV_CONFLICT$/)
    expect(await each.job(held.job.id)).toEqual(held.job)
  })

  it('001:86 of several who saw the same revision one wins', async () => {
    const each = actor(SHORT)
    const held = await at.stalled(each)
    const tries = await Promise.all(
      Array.from({ length: 8 }, () =>
        operations.requeueStalled(held).then(
          () => 'won',
          (error: unknown) => (error instanceof Refused ? error.code : String(error)),
        ),
      ),
    )
    expect(tries.filter((each) => each === 'won')).toHaveLength(1)
    for (const lost of tries.filter((each) => each !== 'won')) expect(lost).toMatch(/REV_CONFLICT|ILLEGAL_TRANSITION/)
    expect((await each.events(held.job.id)).filter(({ type }) => type === 'requeued')).toHaveLength(1)
  })

  it('001:86 001:100 the owner’s own heartbeat is a mutation like any other: the revision before it is stale', async () => {
    const each = actor()
    const held = await at.running(each)
    const { job: renewed } = await operations.heartbeat(held)
    for (const name of ['heartbeat', 'complete', 'fail'] as const)
      expect(await codeOf(operations[name](held))).toBe('REV_CONFLICT')
    expect(await each.job(held.job.id)).toEqual(renewed)
    const { job } = await operations.complete({ ...held, job: renewed })
    expect(job).toMatchObject({ state: 'succeeded', rev: held.job.rev + 2 })
  })

  it.each(['start', 'heartbeat', 'complete', 'fail'] as const)(
    '001:87 %s is accepted from the owner only',
    async (name) => {
      const each = actor()
      const { job } = await at[name === 'start' ? 'claimed' : 'running'](each)
      for (const fence of ['0.1.0123456789abcdef', '0.2.0123456789abcdef', 'w1'])
        expect(await codeOf(operations[name]({ job, fence }))).toBe('STALE_FENCE')
      expect(await each.job(job.id)).toEqual(job)
    },
  )

  it('001:87 an owner whose job was reclaimed is an owner no longer', async () => {
    const each = actor(SHORT)
    const old = await at.stalled(each)
    const reclaimed = await each.claimed('w2')
    for (const name of ['start', 'heartbeat', 'complete', 'fail'] as const)
      expect(await codeOf(operations[name]({ job: reclaimed.job, fence: old.fence }))).toBe('STALE_FENCE')
  })

  it('001:88 stall and requeueStalled need no owner', async () => {
    const each = actor(SHORT)
    const { job } = await at.claimed(each)
    const reaped = await eventually('the lease to expire', () => contract().stall({ ...about(job), actor: 'anybody' }))
    const { job: queued } = await contract().requeueStalled({ ...about(reaped.job), actor: 'anybody' })
    expect((await each.events(job.id)).slice(-2).map(({ actor }) => actor)).toEqual(['anybody', 'anybody'])
    expect(queued.state).toBe('queued')
  })
}
