import { expect, it } from 'vitest'
import { raisedCurve } from '../../../src/core/flow/numbers.ts'
import { blamedKey, signalOf } from '../../../src/core/flow/signal.ts'
import { kindOf } from '../given.ts'

it.each([
  ['captcha', 'throttled', undefined, { type: 'throttled' }],
  ['anything of that class', 'throttled', 5, { type: 'retry_after', retryAfterMs: 5 }],
  ['rate_limited', 'transient', undefined, { type: 'throttled' }],
  ['E_429_RATE', 'transient', 7_000, { type: 'retry_after', retryAfterMs: 7_000 }],
  ['E_5XX_ORIGIN', 'transient', undefined, { type: 'unavailable' }],
  ['network_error', 'transient', 9, { type: 'unavailable' }],
  ['qdrant_unavailable', 'transient', undefined, { type: 'unavailable' }],
  ['ours', 'transient', undefined, { type: 'unavailable' }],
  ['browser_crash', 'transient', undefined, undefined],
  ['timeout_soft', 'transient', undefined, undefined],
  ['invalid_url', 'permanent', undefined, undefined],
  ['validation_failed', 'validation', undefined, undefined],
  ['lease_expired', 'lease', undefined, undefined],
] as const)('%s of class %s (retry after %s) says %o', (code, kind, retryAfterMs, signal) => {
  expect(signalOf({ succeeded: false, code, class: kind, retryAfterMs }, ['ours'])).toEqual(signal)
})

it('a success says so', () => {
  expect(signalOf({ succeeded: true })).toEqual({ type: 'succeeded' })
})

it('the key that an error names is told, among the job’s own; else the adaptive one; else the first', () => {
  const keys = [
    { key: 'all', adaptive: false },
    { key: 'domain', adaptive: true },
  ]
  expect(blamedKey(keys, undefined)).toBe('domain')
  expect(blamedKey(keys, 'all')).toBe('all')
  expect(blamedKey(keys, 'somebody else’s')).toBeUndefined()
  expect(blamedKey(keys.slice(0, 1), undefined)).toBe('all')
  expect(blamedKey([], undefined)).toBeUndefined()
})

it('a key that pushes back raises the cap of the curve, never its base, and to an hour at most', () => {
  const { policy } = kindOf()
  const { retry, throttled } = policy
  expect(raisedCurve(retry, policy, 1)).toEqual({ ...retry, maxMs: Math.max(retry.maxMs, throttled.maxMs) })
  expect(raisedCurve(retry, policy, 3).maxMs).toBe(Math.min(3_600_000, 4 * throttled.maxMs))
  expect(raisedCurve(retry, policy, 7).maxMs).toBe(3_600_000)
  expect(raisedCurve({ ...retry, maxMs: 10 ** 8 }, policy, 0).maxMs).toBe(10 ** 8)
})
