/** `compensated`: every step is undone; the ending that was intended happens, in the same commit. */
import { assert } from '../assert.ts'
import type { Compensated } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import { finish } from '../ending.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideCompensated(d: Draft, job: Job, command: Compensated): Ruling {
  if (job.phase !== 'compensate')
    return { code: 'WRONG_PHASE', message: `Job ${job.id} has nothing to undo: it is in phase run.` }
  assert(job.intended !== undefined, 'a compensating job knows where it is going')
  observe(d, 'compensated', {})
  finish(d, job.intended, command.executionMs ?? 0)
  return undefined
}
