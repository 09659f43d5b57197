/**
 * Whether somebody waits to hear of this very job: of its end; or, as its owner, that it is asked to let go, or has been
 * relieved by somebody else. Work for a queue is another matter, and what an owner does itself is no news to it.
 */
import { isEnded, type Job } from './job.ts'

export function isNews(before: Job, after: Job, byOwner: boolean): boolean {
  if (isEnded(after)) return true
  if (byOwner || before.lease === undefined) return false
  return after.lease?.fence !== before.lease.fence || after.cancel !== undefined
}
