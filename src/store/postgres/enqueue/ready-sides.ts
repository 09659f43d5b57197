import type { Kind } from '../../../core/job.ts'
import type { NewJob } from '../../store.ts'
import { type QueueSide, sideOf } from '../names/kinds.ts'

/**
 * The queues of those jobs that may be claimed now or later, or their sides, once for each kind: listeners there are to be
 * told. Of held ones that is done when those are let in.
 */
export function readySides(items: readonly NewJob[]): readonly QueueSide[] {
  const sides = new Map<Kind, QueueSide>()
  let last: Kind | undefined
  for (let i = 0; i < items.length; i += 1) {
    const { job } = items[i] as NewJob
    const { kind, flow } = job.spec
    if (job.readyAt === undefined || kind === last || flow !== undefined) continue
    last = kind
    sides.set(kind, sideOf(job))
  }
  return [...sides.values()]
}
