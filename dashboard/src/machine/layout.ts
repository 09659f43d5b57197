/** Where nodes and lines stand: three layouts of one graph, as data. */
import type { State } from '../api/wire.ts'
import type { LineName } from './lines.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Label extends Point {
  readonly anchor: 'start' | 'middle' | 'end'
  /** The event's name before the rate, where the line alone does not say it. */
  readonly word?: string
}

export interface Line {
  readonly d: string
  /** Where its arrowhead is, and where that points; a line that joins another has none. */
  readonly head?: Point & { readonly to: Side }
  readonly label?: Label
  readonly dashed?: boolean
}

export type Side = 'up' | 'down' | 'left' | 'right'

export interface Layout {
  readonly width: number
  readonly height: number
  readonly node: { readonly width: number; readonly height: number; readonly radius: number }
  readonly nodes: Readonly<Record<State, Point>>
  readonly lines: Readonly<Partial<Record<LineName, Line>>>
  /** Lines that say something and stand for no change of their own. */
  readonly rails: readonly Line[]
  /** Words that stand for no line. */
  readonly notes: readonly (Label & { readonly word: string })[]
  readonly entry: Point
  readonly frame: Point & { readonly width: number; readonly height: number }
}

interface Grid {
  readonly width: number
  readonly height: number
  readonly node: Layout['node']
  readonly x: {
    readonly entry: number
    readonly queued: number
    readonly claimed: number
    readonly retrying: number
    readonly running: number
    readonly branch: number
    readonly rail: number
    readonly ended: number
    readonly bus: number
  }
  /** Six rows: admission, the straight road, retry, loss, waits, return; and the line of the reopened. */
  readonly y: readonly [number, number, number, number, number, number]
  readonly reopen: number
  readonly corner: number
  readonly frame: Layout['frame']
}

export const WIDE: Layout = laidOut({
  width: 1152,
  height: 470,
  node: { width: 140, height: 52, radius: 9 },
  x: {
    entry: 22,
    queued: 172,
    claimed: 404,
    retrying: 480,
    running: 652,
    branch: 850,
    rail: 872,
    ended: 1062,
    bus: 1144,
  },
  y: [44, 118, 192, 266, 340, 414],
  reopen: 456,
  corner: 10,
  frame: { x: 84, y: 6, width: 672, height: 430 },
})

export const COMPACT: Layout = laidOut({
  width: 780,
  height: 304,
  node: { width: 118, height: 30, radius: 7 },
  x: { entry: 12, queued: 98, claimed: 268, retrying: 330, running: 452, branch: 570, rail: 592, ended: 708, bus: 774 },
  y: [24, 72, 120, 168, 216, 264],
  reopen: 296,
  corner: 8,
  frame: { x: 0, y: 0, width: 0, height: 0 },
})

function laidOut({ width, height, node, x, y, reopen, corner, frame }: Grid): Layout {
  const [admission, road, retry, loss, waits, back] = y
  const w = node.width / 2
  const h = node.height / 2
  const at = (share: number, centre: number) => centre + share * node.width
  const label = (px: number, py: number, anchor: Label['anchor'], word?: string): Label => ({
    x: px,
    y: py - 8,
    anchor,
    ...(word === undefined ? {} : { word }),
  })
  const across = (from: Point, to: Point, given?: Label): Line => ({
    d: path([from, to], corner),
    head: { ...to, to: to.x > from.x ? 'right' : 'left' },
    ...(given === undefined ? {} : { label: given }),
  })
  const upright = (px: number, from: number, to: number, given?: Label): Line => ({
    d: path(
      [
        { x: px, y: from },
        { x: px, y: to },
      ],
      corner,
    ),
    head: { x: px, y: to, to: to > from ? 'down' : 'up' },
    ...(given === undefined ? {} : { label: given }),
  })
  const ending = (row: number): Line => ({
    d: path(
      [
        { x: x.branch, y: road },
        { x: x.rail, y: road },
        { x: x.rail, y: row },
        { x: x.ended - w, y: row },
      ],
      corner,
    ),
    head: { x: x.ended - w, y: row, to: 'right' },
    label: label(x.ended - w - 14, row, 'end'),
  })
  const home = (from: number, row: number, word: string): Line => ({
    d: path(
      [
        { x: from, y: row },
        { x: x.queued, y: row },
        { x: x.queued, y: road + h },
      ],
      corner,
    ),
    head: { x: x.queued, y: road + h, to: 'up' },
    label: label((x.queued + from) / 2, row, 'middle', word),
  })
  const above = (admission + road) / 2
  const releasedX = at(0.39, x.queued)
  const retryX = at(-0.31, x.running)
  const waitX = at(0.31, x.running)
  const reopenX = at(-0.31, x.queued)
  return {
    width,
    height,
    node,
    entry: { x: x.entry, y: road },
    frame,
    nodes: {
      pending: { x: x.queued, y: admission },
      denied: { x: x.ended, y: admission },
      queued: { x: x.queued, y: road },
      claimed: { x: x.claimed, y: road },
      running: { x: x.running, y: road },
      succeeded: { x: x.ended, y: road },
      retrying: { x: x.retrying, y: retry },
      failed: { x: x.ended, y: retry },
      stalled: { x: x.claimed, y: loss },
      dead_lettered: { x: x.ended, y: loss },
      parked: { x: x.claimed, y: waits },
      waiting: { x: x.running, y: waits },
      timed_out: { x: x.ended, y: waits },
      cancelled: { x: x.ended, y: back },
    },
    lines: {
      enter: across(
        { x: x.entry, y: road },
        { x: x.queued - w, y: road },
        label((x.entry + x.queued - w) / 2, road, 'middle'),
      ),
      'enter-pending': {
        d: path(
          [
            { x: x.entry, y: road },
            { x: x.entry, y: admission },
            { x: x.queued - w, y: admission },
          ],
          corner,
        ),
        head: { x: x.queued - w, y: admission, to: 'right' },
        label: label(x.entry + 8, admission - 1, 'start'),
      },
      admit: upright(at(-0.25, x.queued), admission + h, road - h, {
        x: at(-0.25, x.queued) + 8,
        y: above + 4,
        anchor: 'start',
      }),
      deny: across(
        { x: x.queued + w, y: admission },
        { x: x.ended - w, y: admission },
        label(x.ended - w - 14, admission, 'end'),
      ),
      claim: across(
        { x: x.queued + w, y: road },
        { x: x.claimed - w, y: road },
        label((x.queued + x.claimed) / 2, road, 'middle'),
      ),
      start: across(
        { x: x.claimed + w, y: road },
        { x: x.running - w, y: road },
        label((x.claimed + x.running) / 2 - 2, road, 'middle'),
      ),
      succeed: across(
        { x: x.running + w, y: road },
        { x: x.ended - w, y: road },
        label((x.running + x.rail) / 2 + 48, road, 'middle'),
      ),
      release: {
        d: path(
          [
            { x: x.running, y: road - h },
            { x: x.running, y: above },
            { x: releasedX, y: above },
            { x: releasedX, y: road - h },
          ],
          corner,
        ),
        head: { x: releasedX, y: road - h, to: 'down' },
        label: { x: (x.claimed + x.running) / 2 - 52, y: above + 4, anchor: 'middle', word: 'released' },
      },
      'release-claimed': {
        d: path(
          [
            { x: x.claimed, y: road - h },
            { x: x.claimed, y: above },
          ],
          corner,
        ),
      },
      retry: {
        d: path(
          [
            { x: retryX, y: road + h },
            { x: retryX, y: retry },
            { x: x.retrying + w, y: retry },
          ],
          corner,
        ),
        head: { x: x.retrying + w, y: retry, to: 'left' },
        label: label((retryX + x.retrying + w) / 2, retry - 1, 'middle'),
      },
      'claim-retrying': upright(at(0.31, x.claimed), retry - h, road + h, {
        x: at(0.31, x.claimed) + 8,
        y: (retry - h + road + h) / 2 + 4,
        anchor: 'start',
      }),
      lose: {
        d: path(
          [
            { x: x.running, y: road + h },
            { x: x.running, y: loss },
            { x: x.claimed + w, y: loss },
          ],
          corner,
        ),
        head: { x: x.claimed + w, y: loss, to: 'left' },
        label: label((x.running + x.claimed + w) / 2, loss, 'middle', 'lease lost'),
      },
      'lose-claimed': upright(at(-0.31, x.claimed), road + h, loss - h),
      'claim-stalled': upright(at(-0.1, x.claimed), loss - h, road + h),
      'retry-stalled': upright(at(0.268, x.claimed), loss - h, retry + h),
      requeue: home(x.claimed - w, loss, 'requeued'),
      wait: upright(waitX, road + h, waits - h, { x: waitX + 9, y: (retry + loss) / 2 + 3, anchor: 'start' }),
      park: across(
        { x: x.running - w, y: waits },
        { x: x.claimed + w, y: waits },
        label((x.claimed + x.running) / 2, waits, 'middle'),
      ),
      'wake-parked': home(x.claimed - w, waits, 'signalled'),
      wake: {
        d: path(
          [
            { x: x.running, y: waits + h },
            { x: x.running, y: back },
            { x: x.queued, y: back },
            { x: x.queued, y: road + h },
          ],
          corner,
        ),
        head: { x: x.queued, y: road + h, to: 'up' },
        label: label((x.queued + x.running) / 2 + 20, back, 'middle', 'signalled'),
      },
      fail: ending(retry),
      bury: ending(loss),
      expire: ending(waits),
      cancel: ending(back),
      reopen: {
        d: path(
          [
            { x: x.ended + w, y: retry },
            { x: x.bus, y: retry },
            { x: x.bus, y: reopen },
            { x: reopenX, y: reopen },
            { x: reopenX, y: road + h },
          ],
          corner,
        ),
        head: { x: reopenX, y: road + h, to: 'up' },
        label: label(x.rail - 60, reopen, 'end', 'reopened'),
        dashed: true,
      },
    },
    notes:
      frame.width === 0
        ? []
        : [
            { x: frame.x + frame.width + 10, y: (loss + waits) / 2 - 8, anchor: 'start', word: 'any live state' },
            { x: frame.x + frame.width - 12, y: back + 8, anchor: 'end', word: 'live' },
          ],
    rails: [
      ...(frame.width === 0
        ? []
        : [
            {
              d: path(
                [
                  { x: frame.x + frame.width, y: (loss + waits) / 2 },
                  { x: x.rail, y: (loss + waits) / 2 },
                ],
                corner,
              ),
            },
          ]),
      ...[loss, waits, back].map((row) => ({
        d: path(
          [
            { x: x.ended + w, y: row },
            { x: x.bus, y: row },
          ],
          corner,
        ),
        dashed: true,
      })),
    ],
  }
}

const CORNER = 10
const tallNode = { width: 150, height: 50, radius: 9 }
const L = 79
const R = 263
const BUS = 350

/** For a phone: the road runs down, what is beside it stands right, endings at the bottom. */
export const TALL: Layout = {
  width: 358,
  height: 592,
  node: tallNode,
  entry: { x: L, y: 30 },
  frame: { x: 0.5, y: 406, width: 357, height: 182 },
  nodes: {
    queued: { x: L, y: 96 },
    claimed: { x: L, y: 162 },
    running: { x: L, y: 228 },
    pending: { x: R, y: 30 },
    retrying: { x: R, y: 162 },
    stalled: { x: R, y: 228 },
    waiting: { x: R, y: 294 },
    parked: { x: R, y: 360 },
    succeeded: { x: 87, y: 440 },
    failed: { x: 271, y: 440 },
    dead_lettered: { x: 87, y: 497 },
    timed_out: { x: 271, y: 497 },
    cancelled: { x: 87, y: 554 },
    denied: { x: 271, y: 554 },
  },
  lines: {
    enter: { d: 'M79 30V71', head: { x: L, y: 71, to: 'down' }, label: { x: 88, y: 62, anchor: 'start' } },
    'enter-pending': {
      d: 'M79 30H188',
      head: { x: 188, y: 30, to: 'right' },
      label: { x: 130, y: 24, anchor: 'middle' },
    },
    admit: {
      d: path(
        [
          { x: R, y: 55 },
          { x: R, y: 96 },
          { x: 154, y: 96 },
        ],
        CORNER,
      ),
      head: { x: 154, y: 96, to: 'left' },
      label: { x: 271, y: 72, anchor: 'start' },
    },
    claim: { d: 'M79 121V137', head: { x: L, y: 137, to: 'down' }, label: { x: 88, y: 133, anchor: 'start' } },
    start: { d: 'M79 187V203', head: { x: L, y: 203, to: 'down' }, label: { x: 88, y: 199, anchor: 'start' } },
    succeed: { d: 'M79 253V406', head: { x: L, y: 406, to: 'down' }, label: { x: 88, y: 340, anchor: 'start' } },
    retry: {
      d: path(
        [
          { x: 154, y: 216 },
          { x: 171, y: 216 },
          { x: 171, y: 174 },
          { x: 188, y: 174 },
        ],
        8,
      ),
      head: { x: 188, y: 174, to: 'right' },
    },
    'claim-retrying': { d: 'M188 151H154', head: { x: 154, y: 151, to: 'left' } },
    lose: { d: 'M154 228H188', head: { x: 188, y: 228, to: 'right' } },
    wait: {
      d: path(
        [
          { x: 154, y: 240 },
          { x: 171, y: 240 },
          { x: 171, y: 294 },
          { x: 188, y: 294 },
        ],
        8,
      ),
      head: { x: 188, y: 294, to: 'right' },
    },
    park: { d: 'M263 319V335', head: { x: R, y: 335, to: 'down' }, label: { x: 271, y: 331, anchor: 'start' } },
    'wake-parked': {
      d: path(
        [
          { x: 338, y: 360 },
          { x: BUS, y: 360 },
          { x: BUS, y: 96 },
          { x: 154, y: 96 },
        ],
        CORNER,
      ),
      head: { x: 154, y: 96, to: 'left' },
    },
    wake: {
      d: path(
        [
          { x: 338, y: 294 },
          { x: BUS, y: 294 },
          { x: BUS, y: 280 },
        ],
        7,
      ),
    },
    requeue: {
      d: path(
        [
          { x: 338, y: 228 },
          { x: BUS, y: 228 },
          { x: BUS, y: 214 },
        ],
        7,
      ),
    },
  },
  notes: [{ x: 88, y: 390, anchor: 'start', word: 'ended, within the window' }],
  rails: [],
}

/** Straight lines with round corners. */
function path(points: readonly Point[], corner: number): string {
  const [first] = points as readonly [Point, ...Point[]]
  let d = `M${first.x} ${first.y}`
  for (let n = 1; n < points.length; n += 1) {
    const [before, here, next] = [points[n - 1], points[n], points[n + 1]] as [Point, Point, Point | undefined]
    if (next === undefined) return `${d}L${here.x} ${here.y}`
    const radius = Math.min(corner, length(before, here) / 2, length(here, next) / 2)
    const begin = towards(here, before, radius)
    const end = towards(here, next, radius)
    d += `L${begin.x} ${begin.y}Q${here.x} ${here.y} ${end.x} ${end.y}`
  }
  return d
}

// Declarations, not values: the layouts above are made of them while this module is still being read.
function length(a: Point, b: Point): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
}

function towards(from: Point, to: Point, by: number): Point {
  return { x: from.x + Math.sign(to.x - from.x) * by, y: from.y + Math.sign(to.y - from.y) * by }
}
