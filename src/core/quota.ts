/** What one job may leave behind. A log and its bodies are read whole when the job runs again, so neither is endless. */
import { sizeOf } from './body.ts'
import type { BodyRef, Job } from './job.ts'
import { SIZES } from './limits.ts'
import type { Ruling } from './ruling.ts'

/** Why there may be no observation more, with this body in place of that one. */
export const quota = (job: Job, body?: BodyRef, instead?: BodyRef): Ruling =>
  observationQuota(job) ?? bodyQuota(job, body, instead)

export function bodyQuota(job: Job, body: BodyRef | undefined, instead?: BodyRef): Ruling {
  if (job.bodySize + sizeOf(body) - sizeOf(instead) <= SIZES.bodySize) return undefined
  const message = `The bodies of job ${job.id} (checkpoint, memos, signals) may have ${SIZES.bodySize} code units in all (bodySize).`
  return { code: 'LIMIT_REACHED', message }
}

function observationQuota({ id, observations }: Job): Ruling {
  if (observations < SIZES.observations) return undefined
  const message = `Job ${id} has ${observations} observations already, as many as a job may have (observations).`
  return { code: 'LIMIT_REACHED', message }
}
