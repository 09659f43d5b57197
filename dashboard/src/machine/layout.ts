/** Where nodes and lines stand: three layouts of one graph, as data; two of them are one at two sizes, the third is `tall.ts`. */
import type { State } from '../api/wire.ts'
import { type Point, path } from './corners.ts'
import type { LineName } from './lines.ts'

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
  readonly lines: Readonly<Record<LineName, Line>>
  /** From what runs to where the ways of ending leave that other states take, too. */
  readonly branch: string
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
    branch: path(
      [
        { x: x.running + w, y: road },
        { x: x.branch, y: road },
      ],
      corner,
    ),
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
