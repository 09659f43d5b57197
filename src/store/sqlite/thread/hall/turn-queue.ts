import { atQueue } from '../../../../core/flow/hall.ts'
import { LANE_WIDTH } from '../../../codec/lane.ts'
import { original, storable } from '../../../codec/text.ts'
import { laneOf } from '../known-kinds.ts'
import type { Ledger } from '../ledger.ts'
import { isPaused } from '../paused.ts'
import { letInLane } from './lanes.ts'

/** A queue's document was written, under this key: nobody stands in a queue that is paused, and somebody may in one that is not. */
export function turnQueue(ledger: Ledger, key: string): void {
  const { kinds, usher, sql, now } = ledger
  const names = namesIn(key)
  const queue = names === undefined ? undefined : kinds.queue(...names)
  if (names === undefined || queue === undefined) return
  if (!isPaused(sql, ...names)) {
    usher.look(atQueue(String(queue)))
    return
  }
  for (const side of [queue, ...kinds.sides(queue).values()]) {
    const lanes = Array.from({ length: LANE_WIDTH }, (_, priority) => laneOf(side, priority))
    usher.clear(lanes.filter((lane) => lane !== undefined).map(letInLane), now)
  }
}

/** Tenant and queue as they are stored; undefined where the key is not one that `queueKey` makes. */
function namesIn(key: string): readonly [tenant: string, queue: string] | undefined {
  try {
    const [tenant, queue]: unknown[] = JSON.parse(original(key))
    if (typeof tenant === 'string' && typeof queue === 'string') return [storable(tenant), storable(queue)]
  } catch {
    // A document under a key of another form is of no queue.
  }
  return undefined
}
