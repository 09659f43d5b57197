/** What came and what ended, over the window. */
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { TrafficAnswer } from '../api/wire.ts'
import { clock, count } from '../words/format.ts'
import { useKept } from '../words/kept.ts'

const HEIGHT = 170

const LEGEND = [
  ['enqueued', 'idle'],
  ['succeeded', 'good'],
  ['other endings', 'bad'],
] as const

export function FlowChart({ traffic }: { readonly traffic: TrafficAnswer }): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [theme] = useKept('theme', 'system')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme is another drawing; data is handed on below
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const drawn = new uPlot(optionsFor(current), seriesOf(traffic), current)
    plot.current = drawn
    const resized = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height: HEIGHT }))
    resized.observe(current)
    return () => {
      resized.disconnect()
      drawn.destroy()
    }
  }, [theme])
  useEffect(() => plot.current?.setData(seriesOf(traffic)), [traffic])
  const totals = totalsOf(traffic)
  return (
    <figure className="px-4 pb-3">
      <figcaption className="flex flex-wrap gap-x-4 pb-1 text-sm text-text-2">
        {LEGEND.map(([name, family], n) => (
          <span key={name} className="inline-flex items-center gap-1.5 whitespace-nowrap">
            <span className="h-0.5 w-3" style={{ background: `var(--${family})` }} />
            {name} <span className="text-text-3">{count(totals[n] ?? 0)}</span>
          </span>
        ))}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  )
}

const ENDINGS = ['failed', 'timed_out', 'dead_lettered', 'cancelled', 'denied'] as const

const of = (events: TrafficAnswer['steps'][number]['events'], names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (events[name] ?? 0), 0)

const totalsOf = ({ steps }: TrafficAnswer): readonly number[] =>
  [['enqueued'], ['succeeded'], ENDINGS].map((names) => steps.reduce((sum, { events }) => sum + of(events, names), 0))

/** Steps in which nothing happened are zero, not missing. The one that is being filled is left out: it would look like a fall. */
function seriesOf({ steps, stepMs, at, from }: TrafficAnswer): uPlot.AlignedData {
  const begin = Math.floor(Date.parse(from) / stepMs) * stepMs
  const end = Math.floor(Date.parse(at) / stepMs) * stepMs
  const known = new Map(steps.map((step) => [Date.parse(step.at), step.events]))
  const times: number[] = []
  const values: [number[], number[], number[]] = [[], [], []]
  for (let time = begin; time < Math.max(end, begin + stepMs); time += stepMs) {
    const events = known.get(time) ?? {}
    times.push(time / 1_000)
    const perMinute = 60_000 / stepMs
    values[0].push(of(events, ['enqueued']) * perMinute)
    values[1].push(of(events, ['succeeded']) * perMinute)
    values[2].push(of(events, ENDINGS) * perMinute)
  }
  return [times, ...values]
}

/** To the minute, or to the second where minutes would repeat. */
function timesOf(times: readonly number[]): string[] {
  const isFine = (times[1] ?? 0) - (times[0] ?? 0) < 60
  return times.map((time) => clock(time * 1_000).slice(0, isFine ? 8 : 5))
}

function optionsFor(place: HTMLElement): uPlot.Options {
  const style = getComputedStyle(place)
  // A canvas knows no `light-dark()`: the colours are what the browser makes of them here.
  const colour = (name: string): string => {
    const probe = document.createElement('span')
    probe.style.color = `var(--${name})`
    place.append(probe)
    const found = getComputedStyle(probe).color
    probe.remove()
    return found
  }
  const axis = { stroke: colour('text-3'), font: `11px ${style.fontFamily}`, ticks: { show: false } }
  const grid = { stroke: colour('line'), width: 1 }
  return {
    width: place.clientWidth,
    height: HEIGHT,
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_, times) => timesOf(times) },
      {
        ...axis,
        grid,
        size: 44,
        values: (_, ticks) => ticks.map((tick) => (tick < 1 && tick > 0 ? tick.toFixed(1) : count(tick))),
      },
    ],
    series: [
      {},
      { stroke: colour('idle'), width: 1.5, dash: [4, 3], points: { show: false } },
      { stroke: colour('good'), width: 1.5, points: { show: false } },
      { stroke: colour('bad'), width: 1.5, points: { show: false } },
    ],
  }
}
