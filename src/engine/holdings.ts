import { idNumber } from '../core/id.ts'
import type { Job, JobId } from '../core/job.ts'

/**
 * Records of jobs that workers of this process own, as this process last saw them: what settles most words without a
 * load. Only ever a first guess; the store compares revisions.
 *
 * A table in which each job has one place, by its number; one that comes later takes it over. Numbers are handed out one
 * after the other, so that those of one time rarely meet. A `Map` that thousands enter and leave is made anew every few
 * thousand times, and what it was before keeps what it is now from being collected: 14 MB outlived every scavenge.
 *
 * Invariant: every record in it has a lease.
 */
export class Holdings {
  readonly #places: (Job | undefined)[]

  #count = 0

  constructor(places: number) {
    this.#places = new Array(places).fill(undefined)
  }

  /** Whether there are any. One that was lost and never heard of again counts until another takes its place. */
  get isEmpty(): boolean {
    return this.#count === 0
  }

  get(id: JobId, tenant: string | undefined): Job | undefined {
    const job = this.#places[this.#place(id)]
    if (job?.id !== id) return undefined
    return tenant === undefined || job.spec.kind.tenant === tenant ? job : undefined
  }

  /** The job as it is now; without a lease there is nothing to hold. */
  keep(job: Job): void {
    if (job.lease === undefined) return this.drop(job.id)
    const place = this.#place(job.id)
    if (this.#places[place] === undefined) this.#count += 1
    this.#places[place] = job
  }

  /** A record that was changed by another than its owner replaces one that is held; one that is not held is not news. */
  refresh(job: Job): void {
    if (this.get(job.id, undefined) !== undefined) this.keep(job)
  }

  drop(id: JobId): void {
    const place = this.#place(id)
    if (this.#places[place]?.id !== id) return
    this.#places[place] = undefined
    this.#count -= 1
  }

  /** The place of a job. An alias has no number and finds nothing: the job in place 0 has another id. */
  #place(id: JobId): number {
    const number = idNumber(id) ?? 0
    const places = this.#places.length
    // Blocks of several tenants begin at round numbers: those of another time begin elsewhere.
    return (number + Math.floor(number / places) * STRIDE) % places
  }
}

const STRIDE = 7_919
