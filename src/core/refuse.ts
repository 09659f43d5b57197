/** Builds refusals: the general words of `REFUSALS`, and what is particular about this job. */
import type { Job, JobId } from './job.ts'
import { REFUSALS, type Refusal, type RefusalCode, type Violation } from './refusal.ts'
import type { CommandType } from './verb.ts'

export interface Particulars {
  readonly command?: CommandType | undefined
  readonly job?: Job | undefined
  readonly jobId?: JobId | undefined
  /** A sentence about this case; the violations, or the general one, otherwise. */
  readonly message?: string | undefined
  readonly violations?: readonly Violation[] | undefined
  readonly holder?: JobId | undefined
  readonly retryAfterMs?: number | undefined
}

export function refuse(code: RefusalCode, about: Particulars): Refusal {
  const { job } = about
  return {
    code,
    command: about.command,
    job: job?.id ?? about.jobId,
    state: job?.state,
    rev: job?.rev,
    owner: job?.owner?.workerId,
    leaseExpiresAt: job?.lease?.expiresAt,
    message: about.message ?? listed(about.violations) ?? REFUSALS[code].why,
    next: REFUSALS[code].next,
    violations: about.violations ?? [],
    holder: about.holder,
    retryAfterMs: about.retryAfterMs,
  }
}

const listed = (violations: readonly Violation[] | undefined): string | undefined =>
  violations === undefined || violations.length === 0
    ? undefined
    : `${violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ')}.`
