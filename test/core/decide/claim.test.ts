import { describe, expect, it } from 'vitest'
import type { Claim } from '../../../src/core/command.ts'
import { leaseWindowMs } from '../../../src/core/timers.ts'
import { validate } from '../../../src/core/validate.ts'
import { given, NONCE, T0 } from '../given.ts'

describe('claim', () => {
  it('makes one attempt more, with an owner, a fence and a lease of its own', () => {
    const history = given().claims('w1')
    expect(history.record).toMatchObject({
      state: 'claimed',
      attempt: 1,
      owner: { workerId: 'w1' },
      lease: { fence: `0.1.${NONCE}`, expiresAt: history.now + leaseWindowMs(history.kind.policy) },
    })
    history.when({ type: 'claim', workerId: 'w2', nonce: 'fedcba9876543210' }).refused('ILLEGAL_TRANSITION')
  })

  it('that comes too early is told how long to wait', () => {
    const outcome = given({}, { runAt: 1_005_000 }).when({ type: 'claim', workerId: 'w1', nonce: NONCE })
    outcome.refused('NOT_READY')
    expect(outcome.decision).toMatchObject({ refusal: { retryAfterMs: 5_000 } })
  })

  it('is refused once the job’s own time is over, whenever the ticker comes', () => {
    const claim = { type: 'claim', workerId: 'w1', nonce: NONCE } as const
    given({ deadline: '10s' }).after(9_999).when(claim).gives('claimed', 'claimed')
    const late = given({ deadline: '10s' }).after(10_000)
    late.when(claim).refused('NOT_READY')
    late.ticks().gives('timed_out', 'timed_out')
    given({ startWithin: '10s' }).after(10_000).when(claim).refused('NOT_READY')
    given({ deadline: '10s', retry: { base: 1_000, jitter: 'none' } })
      .starts()
      .fails()
      .after(10_000)
      .when(claim)
      .refused('NOT_READY')
  })

  it('of many jobs is one command, judged alike for each of them, and again at another time', () => {
    const claim: Claim = {
      type: 'claim',
      actor: 'worker:w',
      requestId: 'w/claim/1',
      workerId: 'w',
      nonce: '0123456789abcdef',
    }
    expect(validate(claim, T0)).toEqual([])
    expect(validate(claim, T0)).toEqual([])
    expect(validate(claim, Number.NaN)).toHaveLength(1)
    expect(validate({ ...claim, nonce: 'short' }, T0)).toHaveLength(1)
  })
})
