/** `reschedule`: run now or later, or at another priority. No state change. */
import type { Reschedule } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideReschedule(d: Draft, job: Job, command: Reschedule): Ruling {
  const runAt = command.runAt === undefined ? (job.runAt ?? d.at) : Math.max(d.at, command.runAt)
  observe(d, 'rescheduled', { runAt, priority: command.priority ?? job.priority })
  return undefined
}
