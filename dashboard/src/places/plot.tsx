/** Lines over the window, drawn by uPlot: what they are is said in words above, for whoever sees no canvas. */
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clock } from '../words/format.ts'
import { useKept } from '../words/kept.ts'

const HEIGHT = 170
/** Values whose labels tell how wide the axis must be. */
const PROBED = [0, 0.5, 100, 1_000] as const

export interface PlotLine {
  readonly name: string
  /** What it comes to, beside its name. */
  readonly note: string
  readonly colour: string
  readonly isDashed?: boolean
}

export interface PlotProps {
  readonly lines: readonly PlotLine[]
  readonly data: uPlot.AlignedData
  /** Of a place on the axis. */
  readonly label: (value: number) => string
}

export function Plot({ lines, data, label }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [theme] = useKept('theme', 'system')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme is another drawing; data is handed on below
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const drawn = new uPlot(optionsFor(current, lines, label), data, current)
    plot.current = drawn
    const resized = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height: HEIGHT }))
    resized.observe(current)
    return () => {
      resized.disconnect()
      drawn.destroy()
    }
  }, [theme])
  useEffect(() => plot.current?.setData(data), [data])
  return (
    <figure className="px-4 pb-3">
      <figcaption className="flex flex-wrap gap-x-4 pb-1 text-sm text-text-2">
        {lines.map(({ name, note, colour }) => (
          <span key={name} className="inline-flex items-center gap-1.5 whitespace-nowrap">
            <span className="h-0.5 w-3" style={{ background: `var(--${colour})` }} />
            {name} <span className="text-text-3">{note}</span>
          </span>
        ))}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  )
}

/** To the minute, or to the second where minutes would repeat. */
function timesOf(times: readonly number[]): string[] {
  const isFine = (times[1] ?? 0) - (times[0] ?? 0) < 60
  return times.map((time) => clock(time * 1_000).slice(0, isFine ? 8 : 5))
}

function optionsFor(place: HTMLElement, lines: readonly PlotLine[], label: PlotProps['label']): uPlot.Options {
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
  const widest = Math.max(...PROBED.map((value) => label(value).length))
  return {
    width: place.clientWidth,
    height: HEIGHT,
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 64, values: (_, times) => timesOf(times) },
      {
        ...axis,
        grid,
        size: widest > 5 ? 64 : 44,
        values: (_, ticks) => ticks.map(label),
      },
    ],
    series: [
      {},
      ...lines.map(({ colour: name, isDashed = false }) => ({
        stroke: colour(name),
        width: 1.5,
        ...(isDashed ? { dash: [4, 3] } : {}),
        points: { show: false },
      })),
    ],
  }
}
