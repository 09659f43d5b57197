import { describe, expect, it } from 'vitest'
import { heartbeatInMs, leaseWindowMs, tickBesidesLease } from '../../src/core/timers.ts'
import { given, kindOf } from './given.ts'

describe('leases', () => {
  it('are the shorter of the lease and the missed heartbeats', () => {
    expect(leaseWindowMs(kindOf({ lease: '60s', heartbeat: '10s' }).policy)).toBe(21_000)
    expect(leaseWindowMs(kindOf({ lease: '15s', heartbeat: '10s' }).policy)).toBe(15_000)
    expect(leaseWindowMs(kindOf({ heartbeat: false, timeout: '5m' }).policy)).toBe(301_000)
    expect(leaseWindowMs(kindOf({ dialect: '004' }).policy)).toBe(90_000)
    expect(leaseWindowMs(kindOf({ lease: 3_001, missedHeartbeats: 1 }).policy)).toBe(2_500)
  })

  it('are renewed on the interval, but never later than at half of what remains', () => {
    const { policy } = kindOf({ lease: '60s', heartbeat: '15s' })
    expect(heartbeatInMs(policy, 60_000)).toBe(15_000)
    expect(heartbeatInMs(policy, 20_000)).toBe(10_000)
    expect(heartbeatInMs(policy, -1)).toBe(0)
  })

  it('end ownership by the store’s clock, although nobody has noticed', () => {
    const history = given().starts().after(31_000)
    const outcome = history.when({ type: 'complete', fence: 'mine' })
    outcome.refused('LEASE_EXPIRED')
    expect(outcome.decision).toMatchObject({ refusal: { owner: 'w1' }, annotation: { command: 'complete' } })
    history.when({ type: 'heartbeat', fence: 'mine' }).refused('LEASE_EXPIRED')
  })

  it('are not given back by a clock that is set back, and no event goes back with it', () => {
    const history = given().starts().after(31_000).does({ type: 'signal', name: 'x' })
    const { updatedAt } = history.record
    history.after(-10_000).when({ type: 'heartbeat', fence: 'mine' }).refused('LEASE_EXPIRED')
    history.does({ type: 'signal', name: 'y' }, { type: 'stall' }, { type: 'requeue' })
    expect(history.events.slice(-3).map(({ at }) => at)).toEqual([updatedAt, updatedAt, updatedAt])
    expect(history.record).toMatchObject({ state: 'queued', runAt: updatedAt })
  })
})

describe('the clocks besides the lease', () => {
  it('are those that heartbeats do not put off', () => {
    const plain = given().claims()
    expect(plain.record.nextTickAt).toBe(plain.record.lease?.expiresAt)
    expect(tickBesidesLease(plain.record)).toBeUndefined()
    const late = given({ deadline: '10m', timeout: '2m' }).claims()
    expect(tickBesidesLease(late.record)).toBe(1_600_000)
    late.does({ type: 'start', fence: 'mine' })
    expect(tickBesidesLease(late.record)).toBe(1_120_000)
    expect(tickBesidesLease(given({ deadline: '10m' }).record)).toBe(1_600_000)
  })
})
