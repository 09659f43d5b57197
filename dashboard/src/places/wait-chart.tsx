/** How long what was ready waited until a worker had it, over the window. */
import { type ReactNode, useMemo } from 'react'
import type uPlot from 'uplot'
import type { TrafficAnswer } from '../api/wire.ts'
import { span } from '../words/format.ts'
import { Plot, type PlotLine } from './plot.tsx'
import { stepTimes } from './step-times.ts'

export function WaitChart({ traffic }: { readonly traffic: TrafficAnswer }): ReactNode {
  const data = useMemo(() => seriesOf(traffic), [traffic])
  const { wait } = traffic
  const note = (ms: number | undefined) => (ms === undefined ? 'nothing claimed' : span(ms))
  const lines: readonly PlotLine[] = [
    { name: 'p95', colour: 'work', note: note(wait?.p95) },
    { name: 'p50', colour: 'closed', note: note(wait?.p50) },
  ]
  return <Plot lines={lines} data={data} label={seconds} deploys={traffic.deploys} />
}

const seconds = (s: number): string => (s === 0 ? '0' : span(s * 1_000))

/** Where nothing was claimed there is no wait: the line has a gap. */
function seriesOf(traffic: TrafficAnswer): uPlot.AlignedData {
  const known = new Map(traffic.steps.map((step) => [Date.parse(step.at), step.wait]))
  const times = stepTimes(traffic)
  const series = (['p95', 'p50'] as const).map((name) =>
    times.map((time) => {
      const ms = known.get(time)?.[name]
      return ms === undefined ? null : ms / 1_000
    }),
  )
  return [times.map((time) => time / 1_000), ...series]
}
