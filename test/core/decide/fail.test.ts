import { describe, expect, it } from 'vitest'
import { wordForInvalidInput } from '../../../src/core/decide/fail.ts'
import { given, kindOf, T0 } from '../given.ts'

const none = { base: 1_000, factor: 2, max: '60s', jitter: 'none' } as const

describe('fail', () => {
  it('schedules a retry for a transient error and keeps the failure', () => {
    const history = given({ retry: none }).starts()
    const outcome = history.when({ type: 'fail', fence: 'mine', fault: { code: 'E_5XX_ORIGIN', message: 'bad' } })
    outcome.gives('retrying', 'retry_scheduled')
    expect(outcome.last.reason).toBe('E_5XX_ORIGIN')
    const { failures, lastFailure, runAt, readyAt } = history.record
    expect({ failures, runAt, readyAt }).toEqual({
      failures: 1,
      runAt: history.now + 1_000,
      readyAt: history.now + 1_000,
    })
    expect(lastFailure).toMatchObject({ code: 'E_5XX_ORIGIN', class: 'transient', stage: 'exec', attempt: 1 })
  })

  it.each([1, 2, 3, 7, 25])('runs an always failing handler exactly %i times', (attempts) => {
    const history = given({ retry: { ...none, attempts } })
    let runs = 0
    while (history.record.readyAt !== undefined) {
      history.now = Math.max(history.now, history.record.readyAt)
      history.starts().fails()
      runs++
    }
    expect(runs).toBe(attempts)
    expect(history.record).toMatchObject({ state: 'dead_lettered', failures: attempts, attempt: attempts })
    expect(history.record.deadLetter).toMatchObject({ reason: 'exhausted_retries', attempts, lastOwner: 'w1' })
  })

  it('counts every execution that ends in failure, whatever its class', () => {
    const history = given({ retry: { ...none, attempts: 2 } })
      .starts()
      .fails({ code: 'lease_expired' })
      .after(1_000)
    history.starts().fails({ code: 'lease_expired' })
    expect(history.record).toMatchObject({ state: 'dead_lettered', failures: 2 })
  })

  it('ends as failed where the policy says so', () => {
    given({ retry: { attempts: 1 }, onExhausted: 'failed' })
      .starts()
      .when(failing('E_BROWSER'))
      .gives('failed', 'failed')
  })

  it('never retries a permanent error', () => {
    const history = given().starts()
    history.when(failing('E_ROBOTS')).gives('failed', 'failed')
    expect(history.record.error).toMatchObject({ class: 'permanent' })
  })

  it('dead-letters an invalid input, or fails it where the policy says so', () => {
    const history = given().starts()
    history.when(failing('validation_failed')).gives('dead_lettered', 'dead_lettered')
    expect(history.record.deadLetter?.reason).toBe('validation_failed')
    given({ onInvalid: 'failed' }).starts().when(failing('validation_failed')).gives('failed', 'failed')
  })

  it('is the word for an input that cannot be read where the policy says so, else no start is faked', () => {
    const fault = { code: 'parse_error', message: 'not JSON', stage: 'input' } as const
    const wordFor = (overrides: Parameters<typeof kindOf>[0]) =>
      wordForInvalidInput(kindOf(overrides).policy, 'parse_error', fault, { startedAt: T0, executionMs: 0 })
    given({ onInvalid: 'failed' })
      .claims()
      .when({ ...wordFor({ onInvalid: 'failed' }), fence: 'mine' })
      .gives('failed', 'started', 'failed')
    const dead = given().claims()
    dead.when({ ...wordFor({}), fence: 'mine' }).gives('dead_lettered', 'dead_lettered')
    expect(dead.record.deadLetter).toMatchObject({ reason: 'parse_error', stage: 'input' })
    expect(dead.record.error?.message).toBe('not JSON')
  })

  it.each([
    ['E_QDRANT', 'dependency_unavailable'],
    ['E_TIMEOUT', 'timeout'],
    ['E_GPU_OOM', 'exhausted_retries'],
  ])('says why the retries were spent: %s is %s', (code, reason) => {
    const history = given({ retry: { attempts: 1 } }).starts()
    history.when(failing(code)).gives('dead_lettered', 'dead_lettered')
    expect(history.record.deadLetter?.reason).toBe(reason)
  })

  it('retries as a new job in strict 002, with what is left of the budget', () => {
    const history = given({ dialect: '002' }).starts()
    const outcome = history.when(failing('E_BROWSER'))
    outcome.gives('failed', 'failed')
    expect(outcome.decision).toMatchObject({
      successor: { parentId: 'pj_1', cause: 'retry', failures: 1, kind: history.kind },
    })
    given({ dialect: '002', idempotent: true }).starts().when(failing('E_BROWSER')).gives('retrying', 'retry_scheduled')
  })

  it('is terminal in strict 001', () => {
    given({ dialect: '001' })
      .claims()
      .does({ type: 'start', fence: 'mine', expectedRev: 2 })
      .when({ ...failing('E_BROWSER'), expectedRev: 3 })
      .gives('failed', 'failed')
  })

  it('with the same words is a replay once the job has ended, under whatever request id', () => {
    const history = given().starts()
    const { fence } = history
    history.does({ type: 'fail', fence, fault: { code: 'bad_request', message: 'm' } })
    history.when({ type: 'fail', fence, fault: { code: 'bad_request', message: 'm' } }).replayed()
    history.when({ type: 'fail', fence, fault: { code: 'bad_request', message: 'other' } }).refused('STALE_FENCE')
    history.when({ type: 'fail', fence, fault: { code: 'other', message: 'm' } }).refused('STALE_FENCE')
    history.when({ type: 'fail', fence: 'x', fault: { code: 'bad_request', message: 'm' } }).refused('STALE_FENCE')
  })
})

describe('the retry after a failure', () => {
  it('is none that a wall clock would not live to see', () => {
    const policy = { dialect: '004', deadline: '10s', retry: { ...none, base: '20s', attempts: 5 } } as const
    const failed = given(policy).starts()
    failed
      .when({ type: 'fail', fence: 'mine', fault: { code: 'E_5XX_ORIGIN', message: 'bad' } })
      .gives('failed', 'failed')
    expect(failed.record.error).toMatchObject({ code: 'E_5XX_ORIGIN' })
    const lost = given({
      ...policy,
      deadline: '100s',
      retry: { ...none, base: '300s', max: '10m', attempts: 5 },
    }).starts()
    lost.now = lost.record.lease?.expiresAt ?? 0
    lost.ticks().accepted()
    if (lost.state === 'stalled') lost.ticks().accepted()
    expect(lost.state).toBe('failed')
  })

  it.each([
    ['a lost lease that is retried is the first retry', { onStall: 'retry' }, ['stall'], 1_000],
    ['a second lost lease is the second', { onStall: 'retry' }, ['stall', 'stall'], 2_000],
    ['an error after it is the second', { onStall: 'retry' }, ['stall', 'fail'], 2_000],
    ['an error after a lost lease is the first where they are counted apart', {}, ['stall', 'stall', 'fail'], 1_000],
    [
      'an error after lost leases is a later one where they share a budget',
      { shared: true },
      ['stall', 'stall', 'fail'],
      4_000,
    ],
  ] as const)('backs off by retries: %s', (_, policy, course, delayMs) => {
    const onStall = 'onStall' in policy ? policy.onStall : undefined
    const budget = 'shared' in policy ? 'shared' : undefined
    const history = given({ retry: { ...none, budget }, onStall })
    for (const turn of course) {
      history.now = Math.max(history.now, history.record.readyAt ?? 0)
      history.starts()
      if (turn === 'fail') history.fails()
      else history.after(60_000).ticks()
    }
    expect(history.record.runAt).toBe(history.now + delayMs)
  })

  it.each([0, 1, 300, 90_000, 3_600_000, 80_000_000])(
    'comes when it was asked for, up to a tenth later: %i ms',
    (askedMs) => {
      // The curves would have it earlier, and later.
      for (const retry of [none, { base: '10h', max: '10h', jitter: 'none' } as const]) {
        const history = given({ retry: { ...retry, throttled: retry } })
          .starts()
          .fails({ retryAfterMs: askedMs })
        const delayMs = (history.record.runAt as number) - history.now
        expect(delayMs).toBeGreaterThanOrEqual(askedMs)
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(askedMs * 1.1))
      }
    },
  )

  it('comes at different times to those who were told the same', () => {
    const delays = Array.from({ length: 50 }, (_, n) => {
      const history = given({}, { id: `pj_${n + 1}` })
        .starts()
        .fails({ retryAfterMs: 100_000 })
      return (history.record.runAt as number) - history.now
    })
    expect(new Set(delays).size).toBeGreaterThan(40)
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(8_000)
  })

  it('comes after a day at most, and not beyond the deadline', () => {
    const day = 86_400_000
    const patient = given()
      .starts()
      .fails({ retryAfterMs: 365 * day })
    expect(patient.record.runAt).toBe(patient.now + day)
    const hurried = given({ deadline: '1h' }).starts().fails({ retryAfterMs: day })
    expect(hurried.record.runAt).toBe(hurried.record.deadlineAt)
  })

  it('comes later for throttling errors', () => {
    const slow = { retry: { ...none, throttled: { base: '30s', max: '10m', jitter: 'none' } } } as const
    expect(given(slow).starts().fails({ code: 'captcha' }).record.runAt).toBe(1_000_000 + 30_000)
    // A rate limit is retried like any transient error.
    expect(given(slow).starts().fails({ code: 'E_429_RATE' }).record.runAt).toBe(1_000_000 + 1_000)
  })

  it('is one of a budget that counts stalls and failures apart, or together where shared', () => {
    const apart = given({ retry: { attempts: 2, stalls: 2 } })
      .starts()
      .fails()
    apart.now = apart.record.readyAt as number
    apart.starts().after(60_000).ticks().gives('queued', 'stalled', 'requeued')
    expect(apart.record).toMatchObject({ failures: 1, stalls: 1 })
    const shared = given({ retry: { attempts: 2, stalls: 9, budget: 'shared' } })
      .starts()
      .fails()
    shared.now = shared.record.readyAt as number
    shared.starts().after(60_000).ticks().gives('dead_lettered', 'stalled', 'dead_lettered')
  })
})

const failing = (code: string) => ({ type: 'fail', fence: 'mine', fault: { code, message: 'no' } }) as const
