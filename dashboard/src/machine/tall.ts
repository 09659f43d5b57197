/** For a phone: the road runs down, what is beside it stands right, endings at the bottom. Every line of the wide drawing is here, too. */
import { path } from './corners.ts'
import type { Label, Layout, Line, Side } from './layout.ts'

type Spot = readonly [x: number, y: number]

const CORNER = 8
/** Columns, and the edges of their nodes: lines begin and end there. */
const LEFT = { x: 88, from: 18, to: 158 }
const RIGHT = { x: 262, from: 192, to: 332 }
/** What comes back to the queue, who is turned away, what was released, and what was reopened. */
const BUS = { back: 345, denied: 354, released: 10, reopened: 3 }
/** The ways of ending: down to the frame, and between its columns. */
const TRUNK = { x: 136, leaves: 400, across: 410, between: 178 }
const ENDED = { left: 160, right: 196, denied: 336, rows: [452, 509, 566] } as const

const line = (spots: readonly Spot[], to?: Side, label?: Label): Line => {
  const points = spots.map(([x, y]) => ({ x, y }))
  const end = points.at(-1)
  return {
    d: path(points, CORNER),
    ...(to === undefined || end === undefined ? {} : { head: { ...end, to } }),
    ...(label === undefined ? {} : { label }),
  }
}

const beside = (x: number, y: number): Label => ({ x, y, anchor: 'start' })

/** Up the bus at the right, and into the queue with all others. */
const home = (y: number): Line =>
  line(
    [
      [RIGHT.to, y],
      [BUS.back, y],
      [BUS.back, 96],
      [LEFT.to, 96],
    ],
    'left',
  )

const ending = (row: number, x: number, to: Side): Line =>
  line(
    [
      [TRUNK.x, TRUNK.leaves],
      [TRUNK.x, TRUNK.across],
      [TRUNK.between, TRUNK.across],
      [TRUNK.between, row],
      [x, row],
    ],
    to,
  )

const [FIRST, SECOND, THIRD] = ENDED.rows

export const TALL: Layout = {
  width: 358,
  height: 604,
  node: { width: 140, height: 50, radius: 9 },
  entry: { x: LEFT.x, y: 30 },
  branch: path(
    [
      { x: TRUNK.x, y: 253 },
      { x: TRUNK.x, y: TRUNK.leaves },
    ],
    CORNER,
  ),
  frame: { x: 0.5, y: 418, width: 357, height: 182 },
  nodes: {
    queued: { x: LEFT.x, y: 96 },
    claimed: { x: LEFT.x, y: 162 },
    running: { x: LEFT.x, y: 228 },
    pending: { x: RIGHT.x, y: 30 },
    retrying: { x: RIGHT.x, y: 162 },
    stalled: { x: RIGHT.x, y: 228 },
    waiting: { x: RIGHT.x, y: 294 },
    parked: { x: RIGHT.x, y: 360 },
    succeeded: { x: 90, y: FIRST },
    failed: { x: 266, y: FIRST },
    dead_lettered: { x: 90, y: SECOND },
    timed_out: { x: 266, y: SECOND },
    cancelled: { x: 90, y: THIRD },
    denied: { x: 266, y: THIRD },
  },
  lines: {
    enter: line(
      [
        [LEFT.x, 30],
        [LEFT.x, 71],
      ],
      'down',
      beside(97, 60),
    ),
    'enter-pending': line(
      [
        [LEFT.x, 30],
        [RIGHT.from, 30],
      ],
      'right',
      { x: 136, y: 24, anchor: 'middle' },
    ),
    admit: line(
      [
        [RIGHT.x, 55],
        [RIGHT.x, 96],
        [LEFT.to, 96],
      ],
      'left',
      beside(271, 74),
    ),
    deny: line(
      [
        [RIGHT.to, 30],
        [BUS.denied, 30],
        [BUS.denied, THIRD],
        [ENDED.denied, THIRD],
      ],
      'left',
    ),
    claim: line(
      [
        [LEFT.x, 121],
        [LEFT.x, 137],
      ],
      'down',
      beside(97, 133),
    ),
    start: line(
      [
        [LEFT.x, 187],
        [LEFT.x, 203],
      ],
      'down',
      beside(97, 199),
    ),
    succeed: line(
      [
        [104, 253],
        [104, FIRST - 25],
      ],
      'down',
      { x: 98, y: 320, anchor: 'end' },
    ),
    release: line(
      [
        [LEFT.from, 228],
        [BUS.released, 228],
        [BUS.released, 106],
        [LEFT.from, 106],
      ],
      'right',
    ),
    'release-claimed': line([
      [LEFT.from, 162],
      [BUS.released, 162],
    ]),
    retry: line(
      [
        [LEFT.to, 212],
        [166, 212],
        [166, 160],
        [RIGHT.from, 160],
      ],
      'right',
    ),
    'claim-retrying': line(
      [
        [RIGHT.from, 147],
        [LEFT.to, 147],
      ],
      'left',
    ),
    lose: line(
      [
        [LEFT.to, 236],
        [RIGHT.from, 236],
      ],
      'right',
    ),
    'lose-claimed': line(
      [
        [LEFT.to, 183],
        [175, 183],
        [175, 224],
        [RIGHT.from, 224],
      ],
      'right',
    ),
    'claim-stalled': line(
      [
        [RIGHT.from, 213],
        [184, 213],
        [184, 173],
        [LEFT.to, 173],
      ],
      'left',
    ),
    'retry-stalled': line(
      [
        [RIGHT.x, 203],
        [RIGHT.x, 187],
      ],
      'up',
    ),
    requeue: home(228),
    wait: line(
      [
        [LEFT.to, 246],
        [172, 246],
        [172, 294],
        [RIGHT.from, 294],
      ],
      'right',
    ),
    park: line(
      [
        [RIGHT.x, 319],
        [RIGHT.x, 335],
      ],
      'down',
      beside(271, 331),
    ),
    wake: home(294),
    'wake-parked': home(360),
    fail: ending(FIRST, ENDED.right, 'right'),
    bury: ending(SECOND, ENDED.left, 'left'),
    expire: ending(SECOND, ENDED.right, 'right'),
    cancel: ending(THIRD, ENDED.left, 'left'),
    reopen: {
      ...line(
        [
          [BUS.reopened, 418],
          [BUS.reopened, 86],
          [LEFT.from, 86],
        ],
        'right',
        {
          x: 8,
          y: 376,
          anchor: 'start',
          word: 'reopened',
        },
      ),
      dashed: true,
    },
  },
  notes: [{ x: 142, y: 404, anchor: 'start', word: 'from any live state, within the window' }],
  rails: [
    {
      d: path(
        [
          { x: TRUNK.x, y: 253 },
          { x: TRUNK.x, y: TRUNK.leaves },
        ],
        CORNER,
      ),
    },
  ],
}
