/** Where the row of a job with a flow is before and after a change, and what the change means to slots and keys. */
import { unreachable } from '../../../../core/assert.ts'
import { atLane } from '../../../../core/flow/hall.ts'
import type { Time } from '../../../../core/job.ts'
import type { MoveCells, MoveFlow, MoveMore } from '../../rows.ts'
import type { Ledger } from '../ledger.ts'
import { one } from '../rows.ts'
import { flowNumber } from './flows.ts'
import { keyNumber, moveKey } from './keys.ts'
import { heldLane, isLetIn } from './lanes.ts'
import { standingOf } from './usher.ts'

/** A change, with the number of the job's kind. */
export interface Moved {
  readonly m: Pick<MoveCells, 'id' | 'fromReadyAt' | 'priority' | 'readyAt'>
  readonly kind: number
  readonly more: MoveMore
  readonly flow: MoveFlow
}

/** Where the row of a job is that may be claimed some day. */
export interface Spot {
  readonly lane: number
  readonly readyAt: Time
}

/** The row of a job with a flow: in the lane of its flow, where it is held, else in the one that it was let into. Undefined: in neither. */
export function spotInHall({ sql }: Ledger, { m, flow }: Moved): Spot | undefined {
  const readyAt = m.fromReadyAt as Time
  const [number] = one(sql.flowByName, flow.before) ?? []
  const held = typeof number === 'number' ? { lane: heldLane(number), readyAt } : undefined
  if (held !== undefined && one(sql.readyRev, held.lane, readyAt, m.id) !== undefined) return held
  const standing = standingOf(sql, m.id)
  return standing && { lane: standing.lane, readyAt: standing.letInAt }
}

/** The place for the row of a job that may be claimed some day: among the held, unless it keeps the one that it had. */
export function spotAfter(ledger: Ledger, moved: Moved, before: Spot | undefined): Spot {
  if (moved.flow.place === 'stay' && before !== undefined) return before
  return { lane: heldLane(flowAfter(ledger, moved)), readyAt: moved.m.readyAt as Time }
}

/** The flow of the job as it is after the change. */
export const flowAfter = (ledger: Ledger, { m, kind, more, flow }: Moved): number =>
  flowNumber(ledger, flow.flow, {
    tenant: more.tenant,
    kind,
    priority: m.priority,
    needs: more.needs,
    sentTo: more.queue,
  })

/** Called once the row has moved; `from`: where it was, if it was in a lane. */
export function keepHall(ledger: Ledger, moved: Moved, from: Spot | undefined): void {
  const { m, more, flow } = moved
  const { usher, now } = ledger
  const stood = from !== undefined && isLetIn(from.lane)
  switch (flow.place) {
    case 'hold':
    case 'leave':
      usher.free(m.id, now)
      if (flow.place === 'hold') usher.arrive(flowAfter(ledger, moved))
      break
    case 'own':
      if (stood) usher.claim(m.id, now)
      else takeSlots(ledger, moved)
      break
    case 'stay':
      break
    default:
      unreachable(flow.place)
  }
  if (stood && flow.place !== 'stay') usher.look(atLane(String(from.lane)))
  if (flow.key !== null) moveKey(ledger, more.tenant, flow.key)
  for (const [amount, key] of flow.spent) spend(ledger, moved, amount, key)
}

/** An owner that is given a job by a commit has its slots, whether there is room or not. */
function takeSlots(ledger: Ledger, moved: Moved): void {
  const { sql, now } = ledger
  const { m, more, flow } = moved
  const number = flowAfter(ledger, moved)
  for (const key of keysOf(flow)) sql.takeSlot.run(keyNumber(sql, more.tenant, key), m.id, number, now, now)
}

function spend({ sql, usher, now }: Ledger, { more, flow }: Moved, amount: number, named: string | null): void {
  for (const key of named === null ? keysOf(flow) : [named]) usher.spend(keyNumber(sql, more.tenant, key), amount, now)
}

const keysOf = ({ flow: [, keys] }: MoveFlow): ReadonlySet<string> => new Set(keys)
