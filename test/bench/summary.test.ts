import { describe, expect, it } from 'vitest'
import { Summary } from '../../bench/summary.ts'
import { rates, summaryOf } from './cells.ts'

describe('a summary', () => {
  it('is the median, the least and the most of all rounds', () => {
    const summary = summaryOf({ 'drain-1': { pawl: rates(30, 10, 20), 'pg-boss': rates(10, 20) } })
    expect(summary.of('drain-1', 'pawl', 'perSecond')).toEqual({ median: 20, least: 10, most: 30 })
    expect(summary.median('drain-1', 'pg-boss')).toBe(15)
    expect(summary.median('drain-2', 'pawl')).toBeUndefined()
  })

  it('leaves out rounds without a figure', () => {
    const summary = summaryOf({ left: { pawl: [{}, { diskBytes: 7 }, { diskBytes: Number.NaN }] } })
    expect(summary.of('left', 'pawl', 'diskBytes')).toEqual({ median: 7, least: 7, most: 7 })
  })

  it('knows the best of them, whichever way round', () => {
    const summary = summaryOf({ latency: { pawl: [{ p50: 3 }], dbos: [{ p50: 9 }] } })
    expect(summary.best('latency', ['pawl', 'dbos', 'pg-boss'], 'p50', 'less')).toEqual({ contender: 'pawl', value: 3 })
    expect(summary.best('latency', ['pawl', 'dbos'], 'p50', 'more')).toEqual({ contender: 'dbos', value: 9 })
    expect(summary.best('latency', ['pg-boss'], 'p50')).toBeUndefined()
  })

  it('says why a round has none', () => {
    const cell = { scenario: 'drain-1', contender: 'dbos', figures: {}, seconds: 60 } as const
    const summary = new Summary([
      { ...cell, round: 1 },
      { ...cell, round: 2, failed: 'did not finish' },
    ])
    expect(summary.failure('drain-1', 'dbos')).toBe('did not finish')
    expect(summary.failure('drain-1', 'pawl')).toBeUndefined()
  })
})
