import type { Event } from './event.ts'
import type { Job } from './job.ts'

/**
 * How long the attempt took that these events have ended by a word of its owner: as told, and where nothing was, from its
 * start. An attempt that was lost ended nobody knows when.
 */
export function attemptMs(events: readonly Event[], before: Job | undefined, after: Job): number | undefined {
  if (before?.lease === undefined || after.lease !== undefined) return undefined
  const countedMs = after.executionMs - before.executionMs
  if (countedMs > 0) return countedMs
  if (events.some(({ type }) => type === 'stalled')) return undefined
  if (events.some(({ type }) => type === 'started')) return 0
  return before.state === 'running' && before.startedAt !== undefined ? after.updatedAt - before.startedAt : undefined
}
