/** `checkpoint`: resumable state for the next attempt. The last one counts. */
import type { Checkpoint } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { quota } from '../quota.ts'
import type { Ruling } from '../ruling.ts'

export function decideCheckpoint(d: Draft, job: Job, command: Checkpoint): Ruling {
  const full = quota(job, command.body, job.checkpoint)
  if (full !== undefined) return full
  observe(d, 'checkpointed', { body: command.body })
  return undefined
}
