/** A part of the time axis, chosen by hand: what lies outside is left out, what reaches beyond is cut. */
import type { Chart, Stretch } from './time.ts'

export interface Zoom {
  readonly from: number
  readonly to: number
}

interface Span {
  readonly from: number
  readonly to: number
}

const isWithin =
  ({ from, to }: Zoom) =>
  (each: Span): boolean =>
    each.from <= to && each.to >= from

const cut =
  ({ from, to }: Zoom) =>
  <T extends Span>(each: T): T => ({ ...each, from: Math.max(each.from, from), to: Math.min(each.to, to) })

export function zoomed(chart: Chart, zoom: Zoom | undefined): Chart {
  if (zoom === undefined) return chart
  const [within, shorter] = [isWithin(zoom), cut(zoom)]
  // Close enough nothing is idle: whoever looks into a gap wants to see how long it is.
  const stretches: Stretch[] = chart.stretches.filter(within).map(shorter)
  return {
    ...chart,
    from: Math.max(chart.from, zoom.from),
    to: Math.min(chart.to, zoom.to),
    ribbon: chart.ribbon.filter(within).map(shorter),
    lanes: chart.lanes
      .map((lane) => ({ ...lane, bars: lane.bars.filter(within).map(shorter) }))
      .filter(({ bars }) => bars.length > 0),
    stretches: stretches.length === 1 ? stretches.map((each) => ({ ...each, isIdle: false })) : stretches,
  }
}

/** Half as much around the middle, or twice as much; undefined where that is all of it. */
export function scaled({ from, to }: Zoom, by: number, whole: Zoom): Zoom | undefined {
  const middle = (from + to) / 2
  const half = ((to - from) / 2) * by
  const next = { from: Math.max(whole.from, middle - half), to: Math.min(whole.to, middle + half) }
  return next.from <= whole.from && next.to >= whole.to ? undefined : next
}
