import { describe, expect, it } from 'vitest'
import { resolveByHand } from '../../../src/core/flow/limit-input.ts'
import type { Violation } from '../../../src/core/refusal.ts'
import { resolvePolicy } from '../../../src/core/resolve.ts'
import { given } from '../given.ts'

const limits = (...asked: readonly unknown[]) => resolvePolicy({ limits: asked as never })
const wrong = (asked: unknown) => {
  const resolved = limits(asked)
  return resolved.ok ? [] : resolved.violations.map(({ field }) => field)
}

describe('what is said about a limit', () => {
  it('becomes numbers', () => {
    const all = { concurrency: 2, rate: '10/30s', budget: { amount: 5, per: '1h' }, weight: 0.5, adaptive: true }
    const resolved = limits(all, { rate: { most: 1, per: 500 } }, { rate: '5/s' }, {})
    expect(resolved.ok && resolved.policy.limits).toEqual([
      {
        concurrency: 2,
        rate: { most: 10, perMs: 30_000 },
        budget: { amount: 5, perMs: 3_600_000 },
        weight: 0.5,
        adaptive: true,
      },
      { rate: { most: 1, perMs: 500 } },
      { rate: { most: 5, perMs: 1_000 } },
      {},
    ])
    const none = resolvePolicy({})
    expect(none.ok && Object.keys(none.policy)).not.toContain('limits')
  })

  it('is refused by its field where it makes no sense', () => {
    expect(wrong({ concurrency: 0 })).toEqual(['limits.0.concurrency'])
    expect(wrong({ concurrency: 1.5 })).toEqual(['limits.0.concurrency'])
    expect(wrong({ rate: 'often' })).toEqual(['limits.0.rate'])
    expect(wrong({ rate: '5/parsec' })).toEqual(['limits.0.rate.per'])
    expect(wrong({ rate: '0/s' })).toEqual(['limits.0.rate.most'])
    expect(wrong({ rate: { most: 1, per: '9d' } })).toEqual(['limits.0.rate.per'])
    expect(wrong({ rate: null })).toEqual(['limits.0.rate.most', 'limits.0.rate.per'])
    expect(wrong({ budget: null })).toEqual(['limits.0.budget.amount', 'limits.0.budget.per'])
    expect(wrong({ weight: Number.NaN })).toEqual(['limits.0.weight'])
    expect(wrong({ speed: 1 })).toEqual(['limits.0.speed'])
    for (const none of ['2', null]) expect(wrong(none)).toEqual(['limits.0'])
    const many = limits({}, {}, {}, {}, {})
    expect(many.ok).toBe(false)
    expect(resolvePolicy({ limits: {} as never }).ok).toBe(false)
  })

  it('by hand is at least one number, and nothing else', () => {
    const judged = (asked: unknown) => {
      const found: Violation[] = []
      return [resolveByHand(asked, 'limit', found), found.map(({ field }) => field)]
    }
    expect(judged({ weight: 2 })).toEqual([{ weight: 2 }, []])
    expect(judged({})).toEqual([{}, ['limit']])
    expect(judged(null)).toEqual([{}, ['limit']])
    expect(judged({ concurency: 2, adaptive: true })).toEqual([{}, ['limit.concurency', 'limit.adaptive']])
  })

  it('knows which codes tell of what is behind a key', () => {
    const resolved = resolvePolicy({ breaking: ['gateway_down'] })
    expect(resolved.ok && resolved.policy.breaking).toEqual(['gateway_down'])
    for (const breaking of ['x', [''], [1], new Array(65).fill('x')])
      expect(resolvePolicy({ breaking: breaking as never }).ok).toBe(false)
  })
})

describe('the flow of a new job', () => {
  const enqueue = { type: 'enqueue', id: 'pj_2', priority: 5 } as const
  const refused = (flow: unknown) => {
    const history = given()
    return history.when({ ...enqueue, kind: history.kind, flow }).refused('INVALID')
  }

  it('is up to four names that differ, or somebody’s turn', () => {
    expect(given({}, { flow: { keys: ['a', 'b'], fair: 'c' } }).record.spec.flow).toEqual({
      keys: ['a', 'b'],
      fair: 'c',
    })
    for (const flow of ['a', {}, { keys: [] }, { keys: 'a' }, { keys: ['a', 'a'] }, { keys: [''] }, { keys: [1] }])
      refused(flow)
    refused({ keys: ['a', 'b', 'c', 'd', 'e'] })
    refused({ keys: [], fair: '' })
  })
})

describe('spending', () => {
  const running = () => given({}, { flow: { keys: ['tokens'], fair: undefined } }).starts()

  it('is recorded, of all keys or of one of its own', () => {
    const history = running().does({ type: 'record', fence: 'mine', spend: { amount: 5 } })
    history.does({ type: 'record', fence: 'mine', spend: { amount: 2, key: 'tokens' } })
    const spent = history.events.map((event) => (event.type === 'recorded' ? event.payload.spend : undefined))
    expect(spent.filter((each) => each !== undefined)).toEqual([{ amount: 5 }, { amount: 2, key: 'tokens' }])
    running()
      .when({ type: 'record', fence: 'mine', spend: { amount: 5, key: 'other' } })
      .refused('INVALID')
    given()
      .starts()
      .when({ type: 'record', fence: 'mine', spend: { amount: 5, key: 'other' } })
      .refused('INVALID')
    for (const amount of [-1, Number.NaN, 1e308, '5'])
      running().when({ type: 'record', fence: 'mine', spend: { amount } }).refused('INVALID')
  })
})

describe('a key that was pushed back', () => {
  const throttled = { base: '1s', factor: 2, max: '10s', jitter: 'none' } as const
  const delayMs = (level: number | undefined, code: string) => {
    const history = given({ retry: { attempts: 20, jitter: 'none', max: '4s', throttled } }).starts()
    for (let n = 0; n < 9; n += 1) {
      history.does({ type: 'fail', fence: 'mine', fault: { code, message: '' }, level })
      if (n < 8) history.after((history.record.runAt ?? 0) - history.now).starts()
    }
    return (history.record.runAt ?? 0) - history.now
  }

  it('raises the cap of the curve by its level, for who was throttled', () => {
    expect(delayMs(undefined, 'captcha')).toBe(10_000)
    expect(delayMs(0, 'captcha')).toBe(10_000)
    expect(delayMs(3, 'captcha')).toBe(40_000)
    expect(delayMs(3, 'rate_limited')).toBe(40_000)
    expect(delayMs(3, 'E_5XX_ORIGIN')).toBe(4_000)
  })

  it('has a level from 0 to 7', () => {
    const fail = { type: 'fail', fence: 'mine', fault: { code: 'x', message: '' } } as const
    given()
      .starts()
      .when({ ...fail, level: 8 })
      .refused('INVALID')
  })
})
