/**
 * The machine as data. `decide` may only answer with a move that stands here; documentation, diagram, dialects, model
 * checker and dashboard read the same table. What has no cell is refused.
 */
import type { EventType, TransitionType } from './event.ts'
import { isTerminal, LIVE_STATES, STATES, type State, TERMINAL_STATES } from './job.ts'
import type { CommandType } from './verb.ts'

/** A job that does not exist yet is in state `none`. */
export type From = State | 'none'

export interface Move {
  /** The events of one commit, in order. */
  readonly events: readonly EventType[]
  readonly to: State
  readonly when: string
}

export type Machine = Readonly<Record<CommandType, Readonly<Partial<Record<From, readonly Move[]>>>>>

/** Where each transition event leads. Two of them depend on whether admission applies. */
export const LEADS_TO: Readonly<Record<TransitionType, readonly State[]>> = {
  enqueued: ['queued', 'pending'],
  admitted: ['queued'],
  denied: ['denied'],
  claimed: ['claimed'],
  started: ['running'],
  waiting: ['waiting'],
  parked: ['parked'],
  signalled: ['queued'],
  wait_timed_out: ['queued'],
  released: ['queued'],
  retry_scheduled: ['retrying'],
  stalled: ['stalled'],
  requeued: ['queued'],
  cancelled: ['cancelled'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  timed_out: ['timed_out'],
  dead_lettered: ['dead_lettered'],
  compensating: ['queued'],
  reopened: ['queued', 'pending'],
}

const move = (to: State, when: string, ...events: readonly EventType[]): Move => ({ events, to, when })
const after = (first: EventType, moves: readonly Move[]): readonly Move[] =>
  moves.map((m) => ({ ...m, events: [first, ...m.events] }))
const each = (
  states: readonly State[],
  cell: (state: State) => readonly Move[],
): Partial<Record<From, readonly Move[]>> => Object.fromEntries(states.map((state) => [state, cell(state)]))

const compensate = move('queued', 'steps to undo', 'compensating')
const unowned: readonly State[] = ['pending', 'queued', 'retrying', 'waiting', 'parked', 'stalled']

const FAIL: readonly Move[] = [
  move('retrying', 'retryable, budget left', 'retry_scheduled'),
  move('failed', 'not retryable, or budget spent', 'failed'),
  move('dead_lettered', 'budget spent or input invalid, by policy', 'dead_lettered'),
  move('timed_out', 'time limit, by policy', 'timed_out'),
  move('cancelled', 'cancel requested', 'cancelled'),
  compensate,
]

const DEADLINE: readonly Move[] = [
  move('timed_out', 'job deadline passed', 'timed_out'),
  move('dead_lettered', 'compensation deadline passed', 'dead_lettered'),
  compensate,
]

const END: Readonly<Record<string, Move>> = {
  failed: move('failed', 'intended ending', 'compensated', 'failed'),
  dead_lettered: move('dead_lettered', 'intended ending', 'compensated', 'dead_lettered'),
  timed_out: move('timed_out', 'intended ending', 'compensated', 'timed_out'),
  cancelled: move('cancelled', 'intended ending', 'compensated', 'cancelled'),
}

const REOPENABLE: readonly State[] = ['failed', 'dead_lettered', 'timed_out', 'cancelled']

const stay = (event: EventType) => (state: State) => [move(state, 'always', event)]

export const MACHINE: Machine = {
  enqueue: {
    none: [move('queued', 'no admission applies', 'enqueued'), move('pending', 'admission outstanding', 'enqueued')],
  },
  admit: { pending: [move('queued', 'allowed', 'admitted')] },
  deny: {
    pending: [
      move('denied', 'refused', 'denied'),
      move('denied', 'refused, where only what was scheduled may be', 'admitted', 'denied'),
    ],
    queued: [move('denied', 'never claimed', 'denied')],
  },
  askApproval: { pending: [move('pending', 'a policy asks for it', 'approval_asked')] },
  approve: { pending: [move('pending', 'asked for, in time, and by another than it may not be', 'approved')] },
  claim: each(['queued', 'retrying', 'stalled'], () => [move('claimed', 'readyAt <= now < nextTickAt', 'claimed')]),
  start: {
    claimed: [
      move('running', 'lease valid', 'started'),
      move('running', 'lease valid, and the start is the first heartbeat', 'started', 'heartbeat'),
    ],
  },
  heartbeat: each(['claimed', 'running'], stay('heartbeat')),
  progress: each(['running'], stay('progressed')),
  checkpoint: each(['running'], stay('checkpointed')),
  record: each(['running'], stay('recorded')),
  complete: {
    claimed: [move('succeeded', 'implicit start', 'started', 'succeeded')],
    running: [move('succeeded', 'phase run', 'succeeded')],
  },
  fail: { claimed: after('started', FAIL), running: FAIL },
  wait: {
    running: [
      move('waiting', 'short wait', 'waiting'),
      move('parked', 'long wait', 'waiting', 'parked'),
      move('queued', 'the signal is already there', 'waiting', 'signalled'),
      move('cancelled', 'cancel requested', 'cancelled'),
      compensate,
    ],
  },
  signal: {
    ...each(LIVE_STATES, (state) => [move(state, 'nobody waits for it', 'signal_stored')]),
    ...each(['waiting', 'parked'], (state) => [
      move('queued', 'name and key match', 'signalled'),
      move(state, 'no match', 'signal_stored'),
    ]),
  },
  release: each(['claimed', 'running'], () => [
    move('queued', 'always', 'released'),
    move('cancelled', 'cancel requested', 'cancelled'),
    compensate,
  ]),
  reschedule: each(['queued', 'retrying'], stay('rescheduled')),
  replace: each(LIVE_STATES, stay('replaced')),
  stall: each(['claimed', 'running'], () => [move('stalled', 'lease expired', 'stalled')]),
  requeue: {
    stalled: [
      move('queued', 'budget left', 'requeued'),
      move('retrying', 'budget left, by policy, or it ran apart', 'retry_scheduled'),
      move('dead_lettered', 'budget spent, by policy', 'dead_lettered'),
      move('failed', 'budget spent or not retryable, by policy', 'failed'),
      move('timed_out', 'by policy', 'timed_out'),
      move('cancelled', 'cancel requested', 'cancelled'),
      compensate,
    ],
  },
  cancel: {
    ...each(unowned, () => [move('cancelled', 'not owned', 'cancelled'), compensate]),
    ...each(['claimed', 'running'], (state) => [
      move(state, 'soft', 'cancel_requested'),
      move('cancelled', 'hard, or by the owner', 'cancelled'),
      compensate,
    ]),
  },
  expire: {
    ...each(['pending', 'retrying', 'stalled'], () => DEADLINE),
    queued: [...DEADLINE, move('timed_out', 'not started in time', 'timed_out')],
    claimed: [
      ...DEADLINE,
      move('timed_out', 'not started in time', 'timed_out'),
      move('stalled', 'not started in time, by policy', 'stalled'),
    ],
    running: [...DEADLINE, ...FAIL],
    ...each(['waiting', 'parked'], () => [
      ...DEADLINE,
      move('queued', 'wait timed out', 'wait_timed_out'),
      move('timed_out', 'wait timed out, by policy', 'timed_out'),
    ]),
  },
  deadLetter: each(LIVE_STATES, () => [move('dead_lettered', 'always', 'dead_lettered'), compensate]),
  compensated: { running: Object.values(END) },
  reopen: each(REOPENABLE, () => [
    move('queued', 'no admission applies', 'reopened'),
    move('pending', 'admission outstanding', 'reopened'),
  ]),
  strip: {
    ...each(TERMINAL_STATES, stay('stripped')),
    ...each(REOPENABLE, (state) => [move(state, 'its state is named: it could be reopened', 'stripped')]),
  },
}

/** The moves a command may make from a state; undefined where it may make none. */
export const movesFrom = (command: CommandType, from: From): readonly Move[] | undefined => MACHINE[command][from]

/** The states from which a command may make a move. */
export const statesBefore = (command: CommandType): readonly State[] =>
  STATES.filter((state) => movesFrom(command, state) !== undefined)

/**
 * Where a commit may leave a job that has an event of this type in it, whatever else was said in the same breath. An end is
 * left by nothing that is said together with it, and a claim is a commit of its own.
 */
export function statesLedTo(type: EventType): readonly State[] {
  const found = new Set<State>()
  for (const row of Object.values(MACHINE))
    for (const moves of Object.values(row)) for (const { events, to } of moves) if (events.includes(type)) found.add(to)
  // A set that grows while it is walked is walked to its end.
  for (const state of found) {
    if (isTerminal(state)) continue
    for (const [command, row] of Object.entries(MACHINE))
      if (command !== 'claim') for (const { to } of row[state] ?? []) found.add(to)
  }
  return [...found]
}

export interface Edge {
  readonly event: TransitionType
  readonly from: From
  readonly to: State
}

/** Every state change the machine can make, one event at a time: what dialects must be able to tell. */
export function edges(): readonly Edge[] {
  const found = new Map<string, Edge>()
  for (const row of Object.values(MACHINE)) {
    for (const from of ['none', ...STATES] as const) {
      for (const m of row[from] ?? [])
        for (const edge of walk(from, m)) found.set(`${edge.event} ${edge.from} ${edge.to}`, edge)
    }
  }
  return [...found.values()]
}

/** The state changes of one move. Observations in it change nothing and are passed over. */
export function walk(from: From, { events, to }: Move): readonly Edge[] {
  const path: Edge[] = []
  let here = from
  for (const event of events) {
    const targets = LEADS_TO[event as TransitionType] as readonly State[] | undefined
    if (targets === undefined || (event === 'compensating' && here === 'queued')) continue
    const next = targets.includes(to) ? to : (targets[0] as State)
    path.push({ event: event as TransitionType, from: here, to: next })
    here = next
  }
  return path
}

export const isCommand = (name: unknown): name is CommandType =>
  typeof name === 'string' && Object.hasOwn(MACHINE, name)
