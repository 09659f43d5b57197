/** The end of a child is a signal to its parent, at least once: its request id makes a repetition a replay. */
import type { Signal } from './command.ts'
import { isEnded, type Job, type JobId } from './job.ts'

/** The signal a parent waits for under this name, with the child's id as its key. */
export const CHILD_ENDED = 'child_ended'

export function childEnded(child: Job): { readonly parentId: JobId; readonly signal: Signal } | undefined {
  if (!isEnded(child) || child.spec.parentId === undefined) return undefined
  const signal: Signal = {
    type: 'signal',
    actor: 'system',
    requestId: `child/${child.id}/${child.generation}`,
    correlationId: child.spec.correlationId,
    name: CHILD_ENDED,
    key: child.id,
  }
  return { parentId: child.spec.parentId, signal }
}
