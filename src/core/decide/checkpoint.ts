/** `checkpoint`: resumable state for the next attempt. The last one counts. */
import type { Checkpoint } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideCheckpoint(d: Draft, _job: Job, command: Checkpoint): Ruling {
  observe(d, 'checkpointed', { body: command.body })
  return undefined
}
