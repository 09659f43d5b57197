/** What came and what ended, over the window. */
import { type ReactNode, useMemo } from 'react'
import type uPlot from 'uplot'
import type { TrafficAnswer } from '../api/wire.ts'
import { count } from '../words/format.ts'
import { Plot, type PlotLine } from './plot.tsx'
import { stepTimes } from './step-times.ts'

const LINES = [
  { name: 'enqueued', colour: 'idle', isDashed: true },
  { name: 'succeeded', colour: 'good' },
  { name: 'other endings', colour: 'bad' },
] as const

export function FlowChart({ traffic }: { readonly traffic: TrafficAnswer }): ReactNode {
  const data = useMemo(() => seriesOf(traffic), [traffic])
  const totals = totalsOf(traffic)
  const lines: readonly PlotLine[] = LINES.map((line, n) => ({ ...line, note: count(totals[n] ?? 0) }))
  return <Plot lines={lines} data={data} label={perMinute} deploys={traffic.deploys} />
}

const perMinute = (n: number): string => (n < 1 && n > 0 ? n.toFixed(1) : count(n))

const ENDINGS = ['failed', 'timed_out', 'dead_lettered', 'cancelled', 'denied'] as const

const of = (events: TrafficAnswer['steps'][number]['events'], names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (events[name] ?? 0), 0)

const NAMES = [['enqueued'], ['succeeded'], ENDINGS] as const

const totalsOf = ({ steps }: TrafficAnswer): readonly number[] =>
  NAMES.map((names) => steps.reduce((sum, { events }) => sum + of(events, names), 0))

/** Steps in which nothing happened are zero, not missing. */
function seriesOf(traffic: TrafficAnswer): uPlot.AlignedData {
  const known = new Map(traffic.steps.map((step) => [Date.parse(step.at), step.events]))
  const times = stepTimes(traffic)
  const aMinute = 60_000 / traffic.stepMs
  const series = NAMES.map((names) => times.map((time) => of(known.get(time) ?? {}, names) * aMinute))
  return [times.map((time) => time / 1_000), ...series]
}
