/** The time axis of a job: lanes, what a lost run looks like, one scale there and back, and a part of it. */
import { describe, expect, it } from 'vitest'
import type { JobEvent } from '../../dashboard/src/api/wire.ts'
import { foldedFrom, rowsOf } from '../../dashboard/src/job/rows.ts'
import { chartOf, scaleOf } from '../../dashboard/src/job/time.ts'
import { scaled, zoomed } from '../../dashboard/src/job/zoom.ts'

const BEGIN = Date.parse('2026-11-18T03:00:00.000Z')
let revs = 0
const event = (seconds: number, type: string, more: Partial<JobEvent> = {}): JobEvent => {
  revs += 1
  const at = new Date(BEGIN + seconds * 1_000).toISOString()
  const base = { id: `e${revs}`, jobId: 'pj_1', rev: revs, actor: 'a', generation: 0, attempt: 1, payload: {} }
  return { ...base, type, at, state: 'queued', ...more }
}

/** Its worker was killed in the third second; another one has finished it. */
const EVENTS = [
  event(0, 'enqueued', { to: 'queued' }),
  event(1, 'claimed', { to: 'claimed' }),
  event(1, 'started', { to: 'running' }),
  event(2, 'recorded', { payload: { step: { name: 'write#1' } } }),
  event(3, 'progressed'),
  event(63, 'stalled', { to: 'stalled' }),
  event(64, 'claimed', { to: 'claimed', attempt: 2 }),
  event(64, 'started', { to: 'running', attempt: 2 }),
  event(66, 'succeeded', { to: 'succeeded', attempt: 2 }),
]

describe('the time axis', () => {
  const chart = chartOf(EVENTS, BEGIN, true, false)
  if (chart === undefined) throw new Error('there are events')
  const at = (seconds: number) => BEGIN + seconds * 1_000

  it('shows a lost run as long as it was heard of, then its lease run out, and what the next one need not do again', () => {
    const runs = chart.lanes.filter(({ isRun }) => isRun)
    expect(runs.map(({ bars }) => bars.map(({ kind, from, to }) => [kind, from - BEGIN, to - BEGIN]))).toEqual([
      [
        ['run', 1_000, 3_000],
        ['lost', 3_000, 63_000],
      ],
      [['run', 64_000, 66_000]],
    ])
    expect(runs.map(({ kept }) => kept)).toEqual([[], ['write#1']])
  })

  it('compresses what is idle, and leads from a moment to its place and back', () => {
    expect(chart.stretches.filter(({ isIdle }) => isIdle)).toEqual([{ from: at(3), to: at(63), isIdle: true }])
    const { place, moment } = scaleOf(chart)
    expect(place(at(63)) - place(at(3))).toBeLessThan(0.1)
    for (const seconds of [0, 1, 2.5, 33, 64.2, 66]) expect(moment(place(at(seconds)))).toBeCloseTo(at(seconds), 0)
  })

  it('can be looked into: what lies outside is left out, what reaches beyond is cut', () => {
    const part = zoomed(chart, { from: at(60), to: at(65) })
    expect([part.from, part.to]).toEqual([at(60), at(65)])
    expect(part.lanes.map(({ bars }) => bars.map(({ kind, from, to }) => [kind, from, to]))).toEqual([
      [['lost', at(60), at(63)]],
      [['run', at(64), at(65)]],
    ])
    expect(zoomed(chart, undefined)).toBe(chart)
    expect(scaled({ from: at(60), to: at(64) }, 0.5, chart)).toEqual({ from: at(61), to: at(63) })
    expect(scaled({ from: at(10), to: at(60) }, 2, chart)).toBeUndefined()
  })
})

describe('what no step was kept of', () => {
  const claimed = (seconds: number, attempt: number) => [
    event(seconds, 'claimed', { to: 'claimed', attempt }),
    event(seconds, 'started', { to: 'running', attempt }),
  ]
  const kept = (seconds: number, name: string) => event(seconds, 'recorded', { payload: { step: { name } } })
  const bars = (events: readonly JobEvent[], now: number, isEnded: boolean) =>
    chartOf(events, BEGIN + now * 1_000, isEnded, false)
      ?.lanes.filter(({ isUnnamed }) => isUnnamed)
      .map(({ name, bars: [bar] }) => [
        name,
        bar?.kind,
        ((bar?.from ?? 0) - BEGIN) / 1_000,
        ((bar?.to ?? 0) - BEGIN) / 1_000,
      ])

  it('is told by what it came after: red where the run failed, amber as long as a lost one was heard of, blue until now', () => {
    const failed = event(3, 'retry_scheduled', { to: 'retrying', payload: { failure: { code: 'E_503' } } })
    const before = [event(0, 'enqueued', { to: 'queued' }), ...claimed(0, 1), kept(1, 'write#1'), failed]
    expect(bars(before, 4, false)).toEqual([['after write', 'broke', 1, 3]])
    const again = [...before, ...claimed(5, 2)]
    expect(bars(again, 7, false)).toEqual([
      ['after write', 'broke', 1, 3],
      ['after write', 'going', 5, 7],
    ])
    const lost = [...again, kept(6, 'render#1'), event(8, 'progressed'), event(38, 'stalled', { to: 'stalled' })]
    expect(bars(lost, 39, false)?.at(-1)).toEqual(['after render', 'lost', 6, 8])
  })

  it('is not told of a run that has kept none, nor of one that has ended well', () => {
    const plain = [event(0, 'enqueued', { to: 'queued' }), ...claimed(0, 1)]
    expect(bars(plain, 2, false)).toEqual([])
    const done = [...plain, kept(1, 'write#1'), event(2, 'succeeded', { to: 'succeeded' })]
    expect(bars(done, 3, true)).toEqual([])
  })
})

describe('many lanes', () => {
  const lane = (key: string, isRun: boolean) => ({
    key,
    name: key,
    note: '',
    isRun,
    isUnnamed: false,
    bars: [],
    kept: [],
  })
  const runs = (n: number, steps: number) =>
    Array.from({ length: n }, (_, run) => [
      lane(`run ${run}`, true),
      ...Array.from({ length: steps }, (_none, step) => lane(`step ${run}.${step}`, false)),
    ]).flat()

  it('are all there up to two hundred; beyond, runs are folded but the last three, and open one by one', () => {
    const few = runs(10, 19)
    expect(rowsOf(few, foldedFrom(few), new Set()).map((row) => row.lane)).toEqual(few)
    const many = runs(10, 20)
    const rows = rowsOf(many, foldedFrom(many), new Set())
    expect(rows.length).toBe(7 + 3 * 21)
    expect(rows[0]?.folded).toEqual({ isFolded: true, steps: 20 })
    expect(rows.at(-21)?.folded).toBeUndefined()
    expect(rowsOf(many, foldedFrom(many), new Set(['run 1'])).length).toBe(7 + 4 * 21 - 1)
  })
})
