import type { Event } from '../core/event.ts'
import type { Explanation } from '../core/explain.ts'
import type { Job, JobId, State } from '../core/job.ts'
import type { Effect } from '../core/newer.ts'
import { refuse } from '../core/refuse.ts'
import type { Answer } from '../engine/engine.ts'
import type { CancelOptions, ReadOptions, ReopenOptions, RescheduleOptions, SignalOptions } from './asked.ts'
import { Refused } from './errors.ts'
import type { Pawl } from './pawl.ts'
import type { Produced } from './producer.ts'

type Accepted = Extract<Answer, { ok: true }>

/** A job as its producer holds it. `O` and `P` are what comes back of its result and of its input (`Jsonify`). */
export class JobHandle<O = unknown, P = unknown> {
  readonly id: JobId
  /** Another job stands for this piece of business already; this is that job. */
  readonly deduped: boolean
  /** The same call was made before; this is what it made. */
  readonly replayed: boolean
  /**
   * Of a duplicate, where its type has `onDuplicate`: its input has `replaced` that of this job, or is kept for the `next`; or this job
   * has `ended` and still holds the key, and nothing is kept.
   */
  readonly effect: Effect | undefined
  readonly #pawl: Pawl

  /** @internal */
  constructor(pawl: Pawl, { id, deduped, replayed, effect }: Produced) {
    this.#pawl = pawl
    this.id = id
    this.deduped = deduped
    this.replayed = replayed
    this.effect = effect
  }

  /**
   * Waits for the end: what the handler answered, as JSON keeps it. Throws JobFailed, JobDeadLettered, JobCancelled, JobDenied or
   * JobTimedOut; WaitTimedOut where it has not ended in time.
   */
  result(options?: ReadOptions): Promise<O> {
    return this.#pawl.result<O>(this.id, options)
  }

  /** The record; undefined where retention has removed it. */
  job(options?: ReadOptions): Promise<Job | undefined> {
    return this.#pawl.get(this.id, options)
  }

  /** Where it is now. */
  async state(options?: ReadOptions): Promise<State> {
    const job = await this.job(options)
    if (job !== undefined) return job.state
    throw new Refused(refuse('NOT_FOUND', { jobId: this.id, message: `There is no job ${this.id}.` }))
  }

  /** What was handed in, as JSON keeps it. */
  async input(options?: ReadOptions): Promise<P> {
    return (await this.#pawl.body(this.id, 'input', options)) as P
  }

  events(options?: ReadOptions): Promise<readonly Event[]> {
    return this.#pawl.events(this.id, options)
  }

  /** Why is it not running? */
  explain(options?: ReadOptions): Promise<Explanation> {
    return this.#pawl.explain(this.id, options)
  }

  cancel(options?: CancelOptions): Promise<Accepted> {
    return this.#pawl.cancel(this.id, options)
  }

  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<Accepted> {
    return this.#pawl.signal(this.id, name, payload, options)
  }

  reschedule(options?: RescheduleOptions): Promise<Accepted> {
    return this.#pawl.reschedule(this.id, options)
  }

  reopen(options?: ReopenOptions): Promise<Accepted> {
    return this.#pawl.reopen(this.id, options)
  }
}
