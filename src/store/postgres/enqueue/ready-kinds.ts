import type { Kind } from '../../../core/job.ts'
import type { NewJob } from '../../store.ts'

/** The kinds of those jobs that may be claimed now or later: listeners of their queues are to be told. Of held ones they are when those are let in. */
export function readyKinds(items: readonly NewJob[]): ReadonlySet<Kind> {
  const kinds = new Set<Kind>()
  let last: Kind | undefined
  for (let i = 0; i < items.length; i += 1) {
    const { readyAt, spec } = (items[i] as NewJob).job
    if (readyAt === undefined || spec.kind === last || spec.flow !== undefined) continue
    last = spec.kind
    kinds.add(last)
  }
  return kinds
}
