/** `complete`: → `succeeded`. A cancel that was requested meanwhile came too late, and the event says so. */
import type { Complete } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import type { BodyRef, Job, Result } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { counterOverflow } from './progress.ts'
import { startImplicitly } from './start.ts'

const NO_RESULT: BodyRef = { name: 'output', size: 0, digest: undefined }

export function decideComplete(d: Draft, job: Job, command: Complete): Ruling {
  if (job.phase === 'compensate') {
    return { code: 'WRONG_PHASE', message: `Job ${job.id} is undoing its steps and can no longer succeed.` }
  }
  const overflow = counterOverflow(job, command.stats)
  if (overflow !== undefined) return overflow
  startImplicitly(d, command.startedAt)
  const result: Result =
    command.resultPtr === undefined ? { body: command.result ?? NO_RESULT } : { ptr: command.resultPtr }
  const reason = job.cancel === undefined ? undefined : 'cancel_came_too_late'
  change(
    d,
    'succeeded',
    'succeeded',
    { result, stats: command.stats, executionMs: command.executionMs ?? 0 },
    { reason },
  )
  return undefined
}
