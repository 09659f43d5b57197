/** What a look at the hall answers with (`flow_look`), as records. */
import type { Gate } from '../../../core/flow/gate.ts'
import type { Flow, Place } from '../../../core/flow/hall.ts'
import { type Counted, type Slot, windowAt } from '../../../core/flow/slots.ts'
import { idText } from '../../../core/id.ts'
import type { Priority, Time } from '../../../core/job.ts'
import { original } from '../../codec/text.ts'
import type { FlowSeen } from '../../looked-at.ts'
import type { QueueSide } from '../names/kinds.ts'

/** As it comes. The names are explained in `flow_look.sql`. */
export interface Seen {
  readonly t: Time
  readonly a: readonly number[]
  readonly k: readonly number[]
  readonly l: readonly number[]
  readonly q: readonly number[]
  readonly f: readonly number[]
  readonly r: readonly (readonly [place: Place, priority: Priority, flows: readonly number[]])[] | null
  readonly g: readonly (readonly [place: Place, priority: Priority, since: Time])[] | null
  readonly s: readonly (readonly [job: number, flow: number])[] | null
  readonly h: number
  readonly fs: readonly FlowRow[] | null
  readonly o: readonly [
    firsts: readonly (readonly [place: Place, priority: Priority, pass: number])[] | null,
    lasts: readonly (readonly [place: Place, priority: Priority, account: string, pass: number])[] | null,
  ]
  readonly ks: readonly KeyRow[] | null
}

/** As `flow_flows.sql` has them. */
export type FlowRow = readonly [
  id: number,
  version: number,
  lane: number,
  priority: Priority,
  keys: readonly number[],
  weight: number,
  pass: number,
  waitsAt: Place | null,
  nextAt: Time | null,
  jobs: readonly number[] | null,
  times: readonly Time[] | null,
  tenant: string,
  queue: string,
  needs: string | null,
  paused: boolean,
  main: number,
  standing: number,
  account: string,
]

/** As `flow_keys.sql` has them. */
export type KeyRow = readonly [
  id: number,
  version: number,
  gate: string,
  wakeAt: Time | null,
  spent: number,
  spentIn: number,
  spends: readonly number[] | null,
  amounts: readonly number[] | null,
  windows: readonly number[] | null,
  taken: number,
  takenSince: number,
  started: number,
  oldestStart: Time | null,
  jobs: readonly number[] | null,
  flows: readonly number[] | null,
  letIn: readonly Time[] | null,
]

export interface SeenFlow extends FlowSeen {
  readonly id: number
  readonly version: number
  /** Where its jobs go. */
  readonly side: QueueSide
  readonly lane: number
  /** The number of its queue, also where it is a side's. */
  readonly queue: number
}

export interface SeenKey extends Counted {
  readonly id: number
  readonly version: number
  readonly wakeAt: Time | undefined
  /** The number of the budget's window that `count.spent` is of. */
  readonly window: number
  /** Numbers of what was spent and is counted in it now. */
  readonly spends: readonly number[]
  /** What stands, the newest first, each with its flow. Of a key that was looked at only for a flow's sake, none. */
  readonly standing: readonly (Slot & { readonly flow: number })[]
}

export function seenFlow(row: FlowRow): SeenFlow {
  const [id, version, lane, priority, keys, weight, pass, waitsAt, nextAt, jobs, times] = row
  const [, , , , , , , , , , , tenant, queue, needs, isPaused, main, standing, account] = row
  const flow: Flow = {
    name: String(id),
    queue: String(main),
    lane: String(lane),
    priority,
    keys: keys.map(String),
    account,
    weight,
    pass,
    waitsAt: waitsAt ?? undefined,
    nextAt: nextAt ?? undefined,
  }
  const held = (jobs ?? []).map((job, n) => ({ job: idText(job), readyAt: times?.[n] as Time }))
  const side = {
    tenant: original(tenant),
    queue: original(queue),
    ...(needs !== null && { needs: original(needs) }),
  }
  return { id, version, flow, held, side, lane, standing, queue: main, isPaused }
}

export function seenKey(row: KeyRow, now: Time): SeenKey {
  const [id, version, text, wakeAt, spentBefore, spentIn, spends, amounts, windows] = row
  const [, , , , , , , , , taken, takenSince, started, oldestStart, jobs, flows, letIn] = row
  const gate = JSON.parse(text) as Gate
  const window = windowAt(gate, now)
  const spent = (amounts ?? []).reduce(
    (sum, amount, n) => (windows?.[n] === window ? sum + amount : sum),
    spentIn === window ? spentBefore : 0,
  )
  const standing = (jobs ?? []).map((job, n) => ({
    job: idText(job),
    flow: flows?.[n] as number,
    letInAt: letIn?.[n] as Time,
    claimedAt: undefined,
  }))
  const count = { taken, takenSince, started, oldestStart: oldestStart ?? undefined, spent }
  return { id, version, wakeAt: wakeAt ?? undefined, gate, count, window, spends: spends ?? [], standing }
}
