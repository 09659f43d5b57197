import { describe, expect, it } from 'vitest'
import { verdicts } from '../../bench/bars.ts'
import type { Summary } from '../../bench/summary.ts'
import { rates, summaryOf } from './cells.ts'

const verdict = (summary: Summary, name: string) => verdicts(summary).find(({ bar }) => bar.name === name)

describe('the bars', () => {
  it('are the ones that were set', () => {
    const everything = summaryOf({
      'bulk-enqueue': {
        pawl: [{ perSecond: 150, walBytes: 450, serverUs: 9 }],
        'graphile-worker': [{ perSecond: 100, walBytes: 600, serverUs: 12 }],
      },
      'single-enqueue-64': { pawl: rates(40), 'pg-boss': rates(10), 'bullmq-redis': rates(40) },
      'drain-1': {
        pawl: [{ perSecond: 140, walBytes: 550, serverUs: 14 }],
        'graphile-worker': [{ perSecond: 100, walBytes: 600, serverUs: 13 }],
        'bare-sql': rates(200),
      },
      'drain-2': { pawl: rates(120), 'pg-boss': rates(100) },
      together: { pawl: rates(140), dbos: rates(100) },
      latency: {
        pawl: [{ p50: 1, p95: 2 }],
        'graphile-worker': [{ p50: 2, p95: 2 }],
        'bullmq-redis': [{ p50: 1, p95: 1 }],
      },
      steps: { pawl: rates(400), dbos: rates(100) },
      'keyed-bulk': { pawl: rates(150), 'pg-boss': rates(100) },
      retries: { pawl: rates(200), 'bullmq-redis': rates(100) },
      signals: { pawl: rates(200), openworkflow: rates(1) },
      'signals-parked': { pawl: [{ serverUs: 11, plainServerUs: 10 }] },
      'payload-8k': { pawl: rates(140), 'graphile-worker': rates(100), 'bullmq-redis': rates(900) },
      http: { pawl: [{ perSecond: 25, plainPerSecond: 100 }] },
      'many-queues': { pawl: [{ serverUs: 12, plainServerUs: 10 }] },
      limited: { pawl: [{ perSecond: 70, plainPerSecond: 100 }] },
      'limited-full': { pawl: [{ perSecond: 70, plainPerSecond: 100 }] },
      idle: { pawl: [{ statements: 100 }] },
      'latency-beside-half': { pawl: [{ p99: 15, plainP99: 10 }] },
      'latency-beside-500': { pawl: [{ p99: 9 }], 'pg-boss': [{ p99: 9 }] },
      'held-snapshot': { pawl: [{ perSecond: 90, plainPerSecond: 100 }] },
      heartbeats: { pawl: [{ coreShare: 5 }] },
      embedded: { 'pawl-sqlite': rates(130) },
      ...Object.fromEntries(
        ['finished', 'delayed', 'parked', 'queued'].map((what) => [
          `beside-${what}`,
          { pawl: [{ serverUs: 11, plainServerUs: 10, pages: 22, plainPages: 20 }] },
        ]),
      ),
    })
    const all = verdicts(everything)
    expect(all.filter(({ met }) => !met).map(({ bar }) => bar.name)).toEqual([])
    expect(Object.fromEntries(all.map(({ bar }) => [bar.name, [bar.better, bar.limit, bar.beyond]]))).toEqual({
      'drain-1': ['more', 1.4, 2],
      'drain-2': ['more', 1.2, 1.5],
      together: ['more', 1.4, 2],
      steps: ['more', 4, 8],
      retries: ['more', 2, 4],
      signals: ['more', 0.5, 1],
      'signals-parked-cpu': ['less', 1.1, undefined],
      'payload-8k': ['more', 1.4, 2],
      http: ['more', 0.25, 0.5],
      'many-queues-cpu': ['less', 1.2, 1.05],
      limited: ['more', 0.7, 0.9],
      'limited-full': ['more', 0.7, 0.9],
      idle: ['less', 100, 20],
      'single-enqueue-64': ['more', 4, undefined],
      'single-enqueue-64-redis': ['more', 0, 1],
      'bulk-enqueue': ['more', 1.5, 2],
      'keyed-bulk': ['more', 1.5, 2],
      'latency-p50': ['less', 1, undefined],
      'latency-p95': ['less', 1, undefined],
      'latency-beside-half-p99': ['less', 1.5, undefined],
      'latency-beside-500-p99': ['less', 1, undefined],
      'latency-p50-redis': ['less', Number.POSITIVE_INFINITY, 1],
      'latency-p95-redis': ['less', Number.POSITIVE_INFINITY, 1],
      wal: ['less', 1, 0.9],
      'server-cpu': ['less', 1, 0.6],
      'beside-finished-cpu': ['less', 1.1, 1.03],
      'beside-finished-pages': ['less', 1.1, 1.03],
      'beside-delayed-cpu': ['less', 1.1, 1.03],
      'beside-delayed-pages': ['less', 1.1, 1.03],
      'beside-parked-cpu': ['less', 1.1, 1.03],
      'beside-parked-pages': ['less', 1.1, 1.03],
      'beside-queued-cpu': ['less', 1.1, 1.03],
      'beside-queued-pages': ['less', 1.1, 1.03],
      'held-snapshot': ['more', 0.9, undefined],
      heartbeats: ['less', 5, undefined],
      'bare-sql': ['more', 0.6, 0.8],
      embedded: ['more', 1.3, 2],
    })
  })

  it('compare with the best peer on Postgres, not with the first, and not with Redis', () => {
    const summary = summaryOf({
      'drain-1': { pawl: rates(140), 'graphile-worker': rates(50), 'pg-boss': rates(100), 'bullmq-redis': rates(900) },
    })
    expect(verdict(summary, 'drain-1')).toMatchObject({ value: 1.4, met: true, beyond: false })
    expect(verdict(summaryOf({ 'drain-1': { pawl: rates(139), 'pg-boss': rates(100) } }), 'drain-1')?.met).toBe(false)
  })

  it('compare with every peer where Redis is one of them', () => {
    const summary = summaryOf({
      'bulk-enqueue': { pawl: rates(150), 'graphile-worker': rates(50), 'bullmq-redis': rates(200) },
    })
    expect(verdict(summary, 'bulk-enqueue')).toMatchObject({ value: 0.75, met: false })
  })

  it('add up a whole life', () => {
    const summary = summaryOf({
      'bulk-enqueue': { pawl: [{ walBytes: 500 }], 'graphile-worker': [{ walBytes: 600 }] },
      'drain-1': { pawl: [{ walBytes: 580 }], 'graphile-worker': [{ walBytes: 600 }] },
    })
    expect(verdict(summary, 'wal')).toMatchObject({ value: 0.9, met: true, beyond: true })
  })

  it('compare each round with the plain drain of the same round', () => {
    const pawl = [
      { perSecond: 95, plainPerSecond: 100 },
      { perSecond: 40, plainPerSecond: 50 },
      { perSecond: 190, plainPerSecond: 200 },
    ]
    expect(verdict(summaryOf({ 'held-snapshot': { pawl } }), 'held-snapshot')).toMatchObject({ value: 0.95, met: true })
  })

  it('say nothing of what was not measured', () => {
    expect(verdicts(summaryOf({ 'drain-1': { pawl: rates(100) } }))).toEqual([])
    expect(verdicts(summaryOf({ 'held-snapshot': { pawl: rates(100) } }))).toEqual([])
  })
})
