import type { Job, JobId } from '../core/job.ts'

/**
 * Records of jobs that workers of this process own, as this process last saw them: what settles most words without a
 * load. Only ever a first guess; the store compares revisions.
 *
 * Invariant: at most `limit` records, each of them with a lease.
 */
export class Holdings {
  readonly #jobs = new Map<JobId, Job>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(id: JobId, tenant: string | undefined): Job | undefined {
    const job = this.#jobs.get(id)
    return tenant === undefined || job?.spec.kind.tenant === tenant ? job : undefined
  }

  /** The job as it is now; without a lease there is nothing to hold. */
  keep(job: Job): void {
    if (job.lease === undefined) {
      this.#jobs.delete(job.id)
      return
    }
    this.#jobs.set(job.id, job)
    if (this.#jobs.size > this.#limit) this.#dropOldest()
  }

  /** Changed by somebody who is not its owner: news only where the record is held. */
  refresh(job: Job): void {
    if (this.#jobs.has(job.id)) this.keep(job)
  }

  drop(id: JobId): void {
    this.#jobs.delete(id)
  }

  get size(): number {
    return this.#jobs.size
  }

  #dropOldest(): void {
    for (const id of this.#jobs.keys()) {
      this.#jobs.delete(id)
      return
    }
  }
}
