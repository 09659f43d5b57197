/**
 * Lines over the window, drawn by uPlot, with a mark where something was deployed; what they are is said in words above, for whoever sees
 * no canvas. A stretch that is drawn across one chart is looked into in all; a double click, or "Whole", shows all of it again.
 */
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { TrafficAnswer } from '../api/wire.ts'
import { absolute, clock, plural } from '../words/format.ts'
import { useKept } from '../words/kept.ts'
import { useZoom, type Zoom } from './stretch.ts'

const HEIGHT = 160
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
  readonly deploys: TrafficAnswer['deploys']
}

export function Plot({ lines, data, label, deploys }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [theme] = useKept('theme', 'system')
  const zoom = useZoom()
  const marks = useRef(deploys)
  marks.current = deploys
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme is another drawing; data is handed on below
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const drawn = new uPlot(optionsFor(current, { lines, label, marks, look: zoom.look }), data, current)
    plot.current = drawn
    const resized = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height: HEIGHT }))
    resized.observe(current)
    return () => {
      resized.disconnect()
      drawn.destroy()
    }
  }, [theme])
  const { stretch } = zoom
  useEffect(() => {
    const whole = { min: data[0][0] ?? 0, max: data[0].at(-1) ?? 0 }
    plot.current?.batch(() => {
      plot.current?.setData(data, false)
      plot.current?.setScale('x', stretch === undefined ? whole : { min: stretch.from, max: stretch.to })
    })
  }, [data, stretch])
  return (
    <figure className="px-4 pb-3">
      <figcaption className="flex flex-wrap gap-x-4 pb-1 text-sm text-text-2">
        {lines.map(({ name, note, colour }) => (
          <span key={name} className="inline-flex items-center gap-1.5 whitespace-nowrap">
            <span className="h-0.5 w-3" style={{ background: `var(--${colour})` }} />
            {name} <span className="text-text-3">{note}</span>
          </span>
        ))}
        <Deploys deploys={deploys} />
        {stretch === undefined ? null : (
          <button type="button" className="link ml-auto" onClick={() => zoom.look(undefined)}>
            Whole
          </button>
        )}
      </figcaption>
      <div ref={place} aria-hidden="true" data-plot onDoubleClick={() => zoom.look(undefined)} />
    </figure>
  )
}

function Deploys({ deploys }: Pick<PlotProps, 'deploys'>): ReactNode {
  const last = deploys.at(-1)
  if (last === undefined) return null
  const all = deploys.map(({ version, at }) => `${version}, ${absolute(Date.parse(at))}`)
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={all.join('\n')}>
      <span className="h-3 border-l border-dashed border-text" />
      {plural(deploys.length, 'deploy')} <span className="mono max-w-40 truncate text-text-3">{last.version}</span>{' '}
      <span className="text-text-3">{clock(Date.parse(last.at)).slice(0, 5)}</span>
    </span>
  )
}

/** To the minute, or to the second where minutes would repeat. */
function timesOf(times: readonly number[]): string[] {
  const isFine = (times[1] ?? 0) - (times[0] ?? 0) < 60
  return times.map((time) => clock(time * 1_000).slice(0, isFine ? 8 : 5))
}

interface Drawn extends Pick<PlotProps, 'lines' | 'label'>, Pick<Zoom, 'look'> {
  /** As they are when it is drawn. */
  readonly marks: { readonly current: PlotProps['deploys'] }
}

/** Less than this is a click that slipped. */
const STRETCH_LEAST_PX = 8

function optionsFor(place: HTMLElement, { lines, label, marks, look }: Drawn): uPlot.Options {
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
    // What is drawn across it is looked into by all charts alike, so this one does nothing of its own.
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => null },
    },
    legend: { show: false },
    hooks: {
      setSelect: [(plot) => selected(plot, look)],
      draw: [(plot) => drawMarks(plot, marks.current, colour('text'))],
    },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 64, values: (_, times) => timesOf(times) },
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

function selected(plot: uPlot, look: Zoom['look']): void {
  const { left, width } = plot.select
  if (width < STRETCH_LEAST_PX) return
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  look({ from: plot.posToVal(left, 'x'), to: plot.posToVal(left + width, 'x') })
}

function drawMarks({ ctx, bbox, valToPos, scales }: uPlot, deploys: PlotProps['deploys'], colour: string): void {
  const { min = 0, max = 0 } = scales['x'] ?? {}
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
  for (const { at } of deploys) {
    const time = Date.parse(at) / 1_000
    if (time < min || time > max) continue
    const x = Math.round(valToPos(time, 'x', true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
