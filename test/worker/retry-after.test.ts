import { describe, expect, it } from 'vitest'
import { ThrottledError, TransientError } from '../../src/core/thrown.ts'
import { retryAfterMsOf } from '../../src/worker/retry-after.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000
const failed = (fields: object) => Object.assign(new Error('the request failed'), fields)
const hostile = new Proxy(new Error('x'), {
  has: () => true,
  get() {
    throw new Error('no')
  },
})

describe('when to try again', () => {
  it.each([
    ['seconds, as a header says', new ThrottledError('x', { retryAfter: '120' }), 120_000],
    ['a date, as a header says', new ThrottledError('x', { retryAfter: 'Tue, 01 Jan 2030 00:01:30 GMT' }), 90_000],
    ['a date that has passed', new ThrottledError('x', { retryAfter: 'Mon, 31 Dec 2029 23:00:00 GMT' }), 0],
    ['a duration', new TransientError('x', { retryAfter: '4m59s' }), 299_000],
    ['milliseconds', new TransientError('x', { retryAfter: 300 }), 300],
    ['a Date', new TransientError('x', { retryAfter: new Date(NOW + 5_000) }), 5_000],
    ['no header', new TransientError('x', { retryAfter: null }), undefined],
    ['nonsense', new TransientError('x', { retryAfter: '5 parsecs' }), undefined],
    ['a day at most', new TransientError('x', { retryAfter: '9999999' }), DAY_MS],
    ['Headers of an error', failed({ headers: new Headers({ 'Retry-After': '7' }) }), 7_000],
    ['a plain object of headers', failed({ headers: { 'RETRY-AFTER': '7' } }), 7_000],
    ['headers of its response', failed({ response: { headers: { 'retry-after': '7' } } }), 7_000],
    ['a Response', failed({ response: new Response('', { headers: { 'retry-after': '7' } }) }), 7_000],
    ['the exact header', failed({ headers: { 'retry-after': '7', 'retry-after-ms': '6500' } }), 6_500],
    ['its cause', new Error('x', { cause: failed({ headers: { 'retry-after': '7' } }) }), 7_000],
    ['somebody’s own field: seconds or milliseconds?', failed({ retryAfter: 7 }), undefined],
    ['no error at all', 'x', undefined],
    ['an error that cannot be read', hostile, undefined],
  ])('%s', (_, thrown, ms) => {
    expect(retryAfterMsOf(thrown, NOW)).toBe(ms)
  })

  it.each([
    ['its own error', () => new ThrottledError('slow down', { retryAfterMs: 300 })],
    ['a foreign one', () => failed({ headers: { 'retry-after': '0.3' } })],
  ])('is what the handler passed on, not what the curve says: %s', async (_, thrown) => {
    await using fixture = openWorkerFixture()
    const failing = definition(() => {
      throw thrown()
    })
    const id = await fixture.enqueue(failing)
    fixture.work([failing])
    await fixture.time.settle()
    const { state, readyAt } = await fixture.load(id)
    expect(state).toBe('retrying')
    expect(readyAt).toBeGreaterThanOrEqual(fixture.time.now() + 300)
    expect(readyAt).toBeLessThanOrEqual(fixture.time.now() + 330)
  })
})
