/** `reschedule`: run now or later, or at another priority. No state change. */
import { assert } from '../assert.ts'
import type { Reschedule } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { quota } from '../quota.ts'
import type { Ruling } from '../ruling.ts'

export function decideReschedule(d: Draft, job: Job, command: Reschedule): Ruling {
  assert(job.runAt !== undefined, 'the table lets only jobs be rescheduled that wait to run')
  const full = quota(job)
  if (full !== undefined) return full
  const runAt = command.runAt === undefined ? job.runAt : Math.max(d.at, command.runAt)
  observe(d, 'rescheduled', { runAt, priority: command.priority ?? job.priority })
  return undefined
}
