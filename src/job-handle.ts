import type { CancelOptions, SignalOptions } from './asked.ts'
import type { Duration } from './core/duration.ts'
import type { Event } from './core/event.ts'
import type { Job, JobId } from './core/job.ts'
import type { Answer } from './engine/engine.ts'
import type { Pawl } from './pawl.ts'
import type { Produced } from './producer.ts'

type Accepted = Extract<Answer, { ok: true }>

/** A job as its producer holds it. */
export class JobHandle<O = unknown> {
  readonly id: JobId
  /** Another job stands for this piece of business already; this is that job. */
  readonly deduped: boolean
  /** The same call was made before; this is what it made. */
  readonly replayed: boolean
  readonly #pawl: Pawl

  constructor(pawl: Pawl, { id, deduped, replayed }: Produced) {
    this.#pawl = pawl
    this.id = id
    this.deduped = deduped
    this.replayed = replayed
  }

  /** Waits for the end. Throws JobFailed, JobDeadLettered, JobCancelled, JobDenied or JobTimedOut. */
  result(options: { readonly timeout?: Duration | undefined } = {}): Promise<O> {
    return this.#pawl.result<O>(this.id, options)
  }

  job(): Promise<Job | undefined> {
    return this.#pawl.get(this.id)
  }

  events(): Promise<readonly Event[]> {
    return this.#pawl.events(this.id)
  }

  cancel(options?: CancelOptions): Promise<Accepted> {
    return this.#pawl.cancel(this.id, options)
  }

  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<Accepted> {
    return this.#pawl.signal(this.id, name, payload, options)
  }
}
