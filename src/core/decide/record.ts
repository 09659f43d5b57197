/** `record`: a step's memo, a step undone, an artifact's pointer, a note on a plan, a node or a tool, what it has cost. */
import type { RecordWork } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { SIZES } from '../limits.ts'
import { quota } from '../quota.ts'
import type { Ruling } from '../ruling.ts'

export function decideRecord(d: Draft, job: Job, command: RecordWork): Ruling {
  const { step, undone, artifact, note, spend } = command
  if (step?.compensate === true && job.compensations.length >= SIZES.compensations) {
    return { code: 'LIMIT_REACHED', message: `Job ${job.id} has ${SIZES.compensations} steps to undo already.` }
  }
  if (
    artifact !== undefined &&
    !Object.hasOwn(job.artifacts, artifact.name) &&
    Object.keys(job.artifacts).length >= SIZES.artifacts
  ) {
    return { code: 'LIMIT_REACHED', message: `Job ${job.id} has ${SIZES.artifacts} artifacts already.` }
  }
  if (undone !== undefined && job.phase !== 'compensate') {
    return { code: 'WRONG_PHASE', message: `Job ${job.id} is in phase run; nothing is undone there.` }
  }
  if (spend?.key !== undefined && job.spec.flow?.keys.includes(spend.key) !== true) {
    return { code: 'INVALID', message: `Job ${job.id} has no limit key ${spend.key} to spend from.` }
  }
  const full = quota(job, step?.body)
  if (full !== undefined) return full
  observe(d, 'recorded', { step, undone, artifact, note, spend })
  return undefined
}
