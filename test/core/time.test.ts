import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Duration, parseDuration } from '../../src/core/duration.ts'
import { heartbeatInMs, leaseWindowMs, tickBesidesLease } from '../../src/core/timers.ts'
import { given, kindOf, NONCE } from './given.ts'

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

  it('are granted to nobody once the job’s own time is over, whenever the ticker comes', () => {
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

  it('are kept alive by heartbeats, from claimed as from running', () => {
    const history = given().claims().after(30_000).does({ type: 'heartbeat', fence: 'mine' }).after(30_000)
    history.does({ type: 'start', fence: 'mine' }).after(900).does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record.lease).toMatchObject({ beats: 2, expiresAt: history.now + 31_000 })
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

describe('stalls', () => {
  it('need an expired lease, and the fence that was judged', () => {
    const history = given().starts()
    history.when({ type: 'stall' }).refused('NOT_DUE')
    history.after(31_000).when({ type: 'stall', fence: '0.7.0123456789abcdef' }).refused('STALE_FENCE')
    history.when({ type: 'stall', fence: 'mine' }).gives('stalled', 'stalled')
    history.when({ type: 'stall' }).refused('ILLEGAL_TRANSITION')
  })

  it('let another worker claim, with the next attempt', () => {
    const history = given().starts().after(31_000).does({ type: 'stall' })
    const old = history.fence
    history.claims('w2')
    expect(history.record).toMatchObject({ attempt: 2, stalls: 1, owner: { workerId: 'w2' } })
    expect(history.fence).not.toBe(old)
    history.when({ type: 'complete', fence: old }).refused('STALE_FENCE')
  })

  it('are requeued by the ticker until the budget is spent', () => {
    const history = given({ retry: { stalls: 2 } })
    for (let lost = 1; lost <= 2; lost++) {
      history.starts().after(31_000).ticks().gives('queued', 'stalled', 'requeued')
      history.starts().does({ type: 'wait', fence: 'mine', name: 'x' }).does({ type: 'signal', name: 'x' })
    }
    history.starts().after(31_000).ticks().gives('dead_lettered', 'stalled', 'dead_lettered')
    expect(history.record).toMatchObject({
      stalls: 3,
      deadLetter: { reason: 'infrastructure_failure', lastError: { class: 'lease' } },
    })
  })

  it('fail, retry or time out where the policy says so', () => {
    given({ retry: { stalls: 0 }, onExhausted: 'failed' })
      .starts()
      .after(31_000)
      .ticks()
      .gives('failed', 'stalled', 'failed')
    const retried = given({ dialect: '004', deadline: '1d' }).starts().after(90_000)
    retried.ticks().gives('retrying', 'stalled', 'retry_scheduled')
    expect(retried.record).toMatchObject({
      failures: 0,
      stalls: 1,
      lastFailure: { code: 'timeout_soft', class: 'transient' },
    })
    const spent = given({ dialect: '004', deadline: '1d', retry: { attempts: 1 } })
      .starts()
      .after(90_000)
    spent.ticks().gives('failed', 'stalled', 'failed')
    expect(spent.record.error?.code).toBe('E_TIMEOUT')
    given({ dialect: '002' }).starts().after(31_000).ticks().gives('timed_out', 'stalled', 'timed_out')
  })

  it('leave a spent orphan to the ticker alone', () => {
    const history = given({ retry: { stalls: 0 } })
      .starts()
      .after(31_000)
      .does({ type: 'stall' })
    history.when({ type: 'claim', workerId: 'w2', nonce: NONCE }).refused('NOT_READY')
    expect(history.record.nextTickAt).toBe(history.now)
    history.ticks().gives('dead_lettered', 'dead_lettered')
  })
})

describe('time limits', () => {
  it('end any live job at its deadline', () => {
    for (const prepare of [
      (h: ReturnType<typeof given>) => h,
      (h: ReturnType<typeof given>) => h.claims(),
      (h: ReturnType<typeof given>) => h.starts(),
    ]) {
      const history = prepare(given({ deadline: '10s' }))
      expect(history.record.nextTickAt).toBe(1_010_000)
      history.after(10_000).ticks().gives('timed_out', 'timed_out')
      expect(history.record.error).toMatchObject({ code: 'E_TIMEOUT' })
    }
    given({ deadline: '10s', admission: true }).after(10_000).ticks().gives('timed_out', 'timed_out')
    given({ deadline: '10s', retry: { base: '1m', max: '1m', jitter: 'none' } })
      .starts()
      .fails()
      .after(10_000)
      .ticks()
      .gives('timed_out', 'timed_out')
  })

  it('make a slow attempt fail softly, and try again', () => {
    const history = given({ timeout: '5s' }).starts().after(5_000)
    history.ticks().gives('retrying', 'retry_scheduled')
    expect(history.record).toMatchObject({
      failures: 1,
      executionMs: 5_000,
      lastFailure: { code: 'E_TIMEOUT', class: 'transient' },
    })
    given({ timeout: '5s', onTimeout: 'timed_out' }).starts().after(5_000).ticks().gives('timed_out', 'timed_out')
    given({ onTimeout: 'timed_out' })
      .starts()
      .when({ type: 'fail', fence: 'mine', fault: { code: 'E_TIMEOUT', message: 'too long' } })
      .gives('timed_out', 'timed_out')
    const spent = given({ timeout: '5s', retry: { attempts: 1 } })
      .starts()
      .after(5_000)
    spent.ticks().gives('dead_lettered', 'dead_lettered')
    expect(spent.record.deadLetter?.reason).toBe('timeout')
  })

  it('end what is not started in time', () => {
    given({ startWithin: '3s' }).after(3_000).ticks().gives('timed_out', 'timed_out')
    given({ startWithin: '3s' }).claims().after(3_000).ticks().gives('queued', 'stalled', 'requeued')
    given({ startWithin: '3s', onNotStarted: 'timed_out' })
      .claims()
      .after(3_000)
      .ticks()
      .gives('timed_out', 'timed_out')
    expect(given({ startWithin: '3s' }).starts().record.startBy).toBeUndefined()
    const later = given({ startWithin: '3s', admission: true })
      .after(60_000)
      .does({ type: 'admit', rule: 'r', policyHash: 'h' })
    expect(later.record.startBy).toBe(later.now + 3_000)
  })

  it('follow a job that is put off', () => {
    const later = given({ startWithin: '3s' }).does({ type: 'reschedule', runAt: 1_060_000 })
    expect(later.record.startBy).toBe(1_063_000)
    const snoozed = given({ startWithin: '3s' })
      .claims()
      .does({ type: 'release', fence: 'mine', reason: 'snoozed', runAt: 1_060_000 })
    expect(snoozed.record.startBy).toBe(1_063_000)
    const sooner = given({ startWithin: '3s' }, { runAt: 1_060_000 }).does({ type: 'reschedule', runAt: 1_000_000 })
    expect(sooner.record.startBy).toBe(1_063_000)
  })

  it('say how long a claim has to wait', () => {
    const outcome = given({}, { runAt: 1_005_000 }).when({ type: 'claim', workerId: 'w1', nonce: NONCE })
    outcome.refused('NOT_READY')
    expect(outcome.decision).toMatchObject({ refusal: { retryAfterMs: 5_000 } })
  })

  it('have not passed before they have', () => {
    const history = given({ deadline: '10s' }).after(9_999)
    expect(history.isDue).toBe(false)
    history.when({ type: 'expire' }).refused('NOT_DUE')
  })
})

describe('durations', () => {
  it('are milliseconds or words', () => {
    expect(['250ms', '30s', '5m', '2h', '1d', '1.5s', 42].map(parseDuration)).toEqual([
      250, 30_000, 300_000, 7_200_000, 86_400_000, 1_500, 42,
    ])
  })

  it('may have several parts, the greatest first, each once', () => {
    expect(['4m59s', '1d12h', '1h30m0.5s', '1d2h3m4s5ms', '1m500ms'].map(parseDuration)).toEqual([
      299_000, 129_600_000, 5_400_500, 93_784_005, 60_500,
    ])
    for (const odd of ['59s4m', '1h1h', '4m59', '4m 59s', 'm59s']) expect(parseDuration(odd)).toBeUndefined()
  })

  it('are typed as far as types can say it', () => {
    expectTypeOf<'4m59s' | '250ms' | '1.5h' | '1d12h' | '1m500ms' | 42>().toExtend<Duration>()
    expectTypeOf<'5 parsecs'>().not.toExtend<Duration>()
    expectTypeOf<'5 minutes'>().not.toExtend<Duration>()
    expectTypeOf<'59s4m'>().not.toExtend<Duration>()
    expectTypeOf<''>().not.toExtend<Duration>()
    expectTypeOf<string>().not.toExtend<Duration>()
  })

  it('are nothing else', () => {
    for (const odd of [
      '',
      '5',
      '-1s',
      '1e3s',
      's',
      '5 m',
      Number.NaN,
      Number.POSITIVE_INFINITY,
      null,
      undefined,
      {},
      true,
    ]) {
      expect(parseDuration(odd)).toBeUndefined()
    }
  })
})
