/**
 * The time axis of a job: runs and their steps as bars, states as a ribbon. One scale within what is recorded; a long stretch in
 * which nothing is becomes a narrow band with its true length.
 */
import type { JobEvent, State } from '../api/wire.ts'

export interface Stretch {
  readonly from: number
  readonly to: number
  readonly isIdle: boolean
}

export interface Bar {
  readonly from: number
  readonly to: number
  /** `broke`, `going`: what came after the last step that was kept, until its run failed, or until now. */
  readonly kind: 'run' | 'step' | 'broke' | 'going' | 'failed' | 'lost' | 'wait'
  readonly text: string
  /** It goes on. */
  readonly isOpen: boolean
}

export interface Lane {
  readonly key: string
  readonly name: string
  readonly note: string
  readonly isRun: boolean
  /** What it is nobody has written down: it is told by what it came after. */
  readonly isUnnamed: boolean
  readonly bars: readonly Bar[]
  /** Steps that earlier runs have kept: this one goes on behind them. */
  readonly kept: readonly string[]
}

export interface Ribbon {
  readonly state: State
  readonly from: number
  readonly to: number
}

export interface Chart {
  readonly from: number
  readonly to: number
  readonly ribbon: readonly Ribbon[]
  readonly lanes: readonly Lane[]
  readonly stretches: readonly Stretch[]
  readonly workedMs: number
}

const IDLE_MS = 5_000
const IDLE_SHARE = 0.04

export function chartOf(
  events: readonly JobEvent[],
  now: number,
  isEnded: boolean,
  isToScale: boolean,
): Chart | undefined {
  const [first] = events
  if (first === undefined) return undefined
  const from = Date.parse(first.at)
  const lastAt = Date.parse(events.at(-1)?.at ?? first.at)
  const to = Math.max(isEnded ? lastAt : Math.max(now, lastAt), from + 1)
  const lanes = lanesOf(events, to)
  const moments = [...events.map(({ at }) => Date.parse(at)), to]
  return {
    from,
    to,
    ribbon: ribbonOf(events, to),
    lanes,
    stretches: isToScale ? [{ from, to, isIdle: false }] : stretchesOf(moments, lanes, from, to),
    workedMs: lanes
      .filter(({ isRun }) => isRun)
      .reduce(
        (sum, { bars }) => sum + bars.reduce((ms, bar) => ms + (bar.kind === 'lost' ? 0 : bar.to - bar.from), 0),
        0,
      ),
  }
}

function ribbonOf(events: readonly JobEvent[], end: number): readonly Ribbon[] {
  const moves = events.filter((event) => event.to !== undefined)
  return moves.map((event, n) => ({
    state: event.to as State,
    from: Date.parse(event.at),
    to: n + 1 < moves.length ? Date.parse(moves[n + 1]?.at ?? '') : end,
  }))
}

interface Open {
  readonly lane: Lane & { readonly bars: Bar[] }
  readonly steps: Lane[]
  /** When it began, where its last step ended, and when anything was last heard of its worker. */
  readonly from: number
  heard: number
  alive: number
}

const LOST = new Set(['stalled'])
const FAILED = new Set(['retry_scheduled', 'failed', 'dead_lettered', 'timed_out'])

/** One lane per claim, and one below it for each step that was recorded in it. */
function lanesOf(events: readonly JobEvent[], end: number): readonly Lane[] {
  const lanes: Lane[] = []
  const kept = new Set<string>()
  let run: Open | undefined
  const close = (at: number, kind: Bar['kind'], text: string, isOpen = false) => {
    if (run === undefined) return
    run.lane.bars.push({ from: run.from, to: at, kind, text, isOpen })
    lanes.push(run.lane, ...run.steps, ...restOf(run, at, { kind, text, isOpen }))
    run = undefined
  }
  /** It ran as long as it was heard of; after that its lease ran out. */
  const lose = (at: number) => {
    if (run === undefined) return
    const { lane, from, alive } = run
    if (alive > from) lane.bars.push({ from, to: alive, kind: 'run', text: '', isOpen: false })
    run = { ...run, from: alive }
    close(at, 'lost', 'lease ran out')
  }
  for (const event of events) {
    const at = Date.parse(event.at)
    const { payload } = event
    if (run !== undefined && event.to === undefined) run.alive = at
    if (event.type === 'claimed') {
      const owner = payload['owner'] as { readonly workerId: string } | undefined
      run = {
        from: at,
        heard: at,
        alive: at,
        steps: [],
        lane: {
          key: `run ${event.rev}`,
          name: `Run ${event.attempt}`,
          note: owner?.workerId ?? event.actor,
          isRun: true,
          isUnnamed: false,
          bars: [],
          kept: [...kept],
        },
      }
    } else if (event.type === 'recorded' && run !== undefined) {
      const step = payload['step'] as { readonly name: string } | undefined
      if (step !== undefined) {
        run.steps.push(stepLane(event, step.name, run.heard, at))
        kept.add(step.name)
      }
      run.heard = at
    } else if (event.type === 'waiting') {
      close(at, 'run', 'suspended')
    } else if (event.to !== undefined && run !== undefined && event.type !== 'started') {
      const failure = payload['failure'] as { readonly code: string } | undefined
      if (LOST.has(event.type)) lose(at)
      else if (FAILED.has(event.type)) close(at, 'failed', failure?.code ?? event.type)
      else close(at, 'run', '')
      // A log tells when a step was kept, and not when it began: that was where the one before it was. What is said of progress meanwhile, and
      // may come late, ends none.
    } else if (run !== undefined && event.type === 'started') {
      run.heard = at
      run.alive = at
    }
    if (event.type === 'waiting') lanes.push(waitLane(event, events, end))
  }
  if (run !== undefined) close(end, 'run', '', true)
  return lanes
}

/**
 * What was under way when a run failed, was lost, or is now: the log has no name for it, since a step is written down when it is kept. So
 * it is told as what came after the last that was, and where none was, the bar of the run says all there is.
 */
function restOf(
  { lane, steps, heard, alive }: Open,
  at: number,
  { kind, text, isOpen }: Pick<Bar, 'kind' | 'text' | 'isOpen'>,
): readonly Lane[] {
  const after = steps.at(-1)?.name ?? lane.kept.at(-1)
  const is = kind === 'failed' ? 'broke' : kind === 'lost' ? 'lost' : isOpen ? 'going' : undefined
  // It was lost with its worker, which was heard of until then; that its lease ran out is said of the run.
  const to = is === 'lost' ? alive : at
  if (after === undefined || is === undefined || to <= heard) return []
  const told = is === 'broke' ? `× ${text}` : is === 'lost' ? 'lost with the worker' : 'under way'
  return [
    {
      key: `rest of ${lane.key}`,
      name: `after ${after.replace(/#1$/, '')}`,
      note: '',
      isRun: false,
      isUnnamed: true,
      kept: [],
      bars: [{ from: heard, to, kind: is, text: told, isOpen }],
    },
  ]
}

const stepLane = ({ rev }: JobEvent, name: string, from: number, to: number): Lane => ({
  key: `step ${rev}`,
  name,
  note: '',
  isRun: false,
  isUnnamed: false,
  kept: [],
  bars: [{ from, to, kind: 'step', text: '', isOpen: false }],
})

function waitLane(event: JobEvent, events: readonly JobEvent[], end: number): Lane {
  const wait = event.payload['wait'] as { readonly name: string } | undefined
  const over = events.find(({ rev, to, type }) => rev > event.rev && to !== undefined && type !== 'parked')
  return {
    key: `wait ${event.rev}`,
    name: `waits for ${wait?.name ?? ''}`,
    note: '',
    isRun: false,
    isUnnamed: false,
    kept: [],
    bars: [
      {
        from: Date.parse(event.at),
        to: over === undefined ? end : Date.parse(over.at),
        kind: 'wait',
        text: over === undefined ? 'still waits' : `${over.type} by ${over.actor}`,
        isOpen: over === undefined,
      },
    ],
  }
}

/** Between two moments nothing is recorded; where that is long, and nobody runs, it is idle. */
function stretchesOf(moments: readonly number[], lanes: readonly Lane[], from: number, to: number): readonly Stretch[] {
  const times = [...new Set([from, ...moments, to])].sort((a, b) => a - b)
  const runs = lanes.flatMap(({ bars }) => bars.filter(({ kind }) => kind !== 'wait' && kind !== 'lost'))
  const gaps = times.slice(1).map((time, n) => ({ from: times[n] as number, to: time }))
  const isQuiet = (gap: { readonly from: number; readonly to: number }) =>
    gap.to - gap.from > IDLE_MS && !runs.some((bar) => bar.from < gap.to && bar.to > gap.from)
  const active = gaps.filter((gap) => !isQuiet(gap)).reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const found: Stretch[] = []
  for (const gap of gaps) {
    const isIdle = isQuiet(gap) && gap.to - gap.from > IDLE_SHARE * active
    const last = found.at(-1)
    if (last !== undefined && last.isIdle === isIdle && !isIdle) found[found.length - 1] = { ...last, to: gap.to }
    else found.push({ ...gap, isIdle })
  }
  return found
}

/** How much of a length lies before this, from 0 to 1. */
const shareOf = (at: number, from: number, length: number): number =>
  length === 0 ? 0 : Math.max(0, Math.min(1, (at - from) / length))

const BAND = 0.055

export interface Scale {
  /** Where a moment stands, from 0 to 1. */
  place(at: number): number
  /** Which moment stands there. */
  moment(place: number): number
}

export function scaleOf({ stretches }: Chart): Scale {
  const idle = stretches.filter(({ isIdle }) => isIdle).length
  const active = stretches.filter(({ isIdle }) => !isIdle).reduce((sum, { from, to }) => sum + to - from, 0)
  const band = idle === 0 ? 0 : active === 0 ? 1 / idle : Math.min(BAND, 0.6 / idle)
  const room = 1 - band * idle
  const places: { from: number; to: number; at: number; width: number }[] = []
  let x = 0
  for (const { from, to, isIdle } of stretches) {
    const width = isIdle ? band : active === 0 ? 0 : (room * (to - from)) / active
    places.push({ from, to, at: x, width })
    x += width
  }
  return {
    place(at) {
      const place = places.find(({ to }) => at <= to) ?? places.at(-1)
      if (place === undefined) return 0
      return place.at + shareOf(at, place.from, place.to - place.from) * place.width
    },
    moment(share) {
      const place = places.find(({ at, width }) => share <= at + width) ?? places.at(-1)
      if (place === undefined) return 0
      return place.from + shareOf(share, place.at, place.width) * (place.to - place.from)
    },
  }
}
