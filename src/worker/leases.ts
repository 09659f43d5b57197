/** The leases a worker has: what each is for, and what is heard about it. */
import { attemptMsOf } from '../core/admission.ts'
import type { CancelRequest, Job } from '../core/job.ts'
import { leaseWindowMs } from '../core/timers.ts'
import type { Assignment } from '../engine/engine.ts'
import type { Log } from '../system/log.ts'
import type { Execution } from './execution.ts'
import { Keeping, type KeepingOptions } from './keeping.ts'
import type { LeaseNews } from './lease-keeper.ts'
import type { LeasePlace } from './lease-table.ts'

/** Opens the reason of a cancel request that came sealed. */
export type HeardCancel = (job: Job, cancel: CancelRequest) => CancelRequest

export interface LeasesOptions extends Omit<KeepingOptions, 'tell'> {
  readonly heardCancel: HeardCancel
  /** How long the store may be silent before that is found out. */
  readonly silentMs: number | undefined
}

export class Leases {
  readonly #keeping: Keeping
  readonly #heardCancel: HeardCancel
  /** Executions by the row of their lease in the table. */
  readonly #byRow: (Execution | undefined)[] = []
  #count = 0
  readonly #silentMs: number
  readonly #log: Log
  #warned = false

  constructor({ heardCancel, silentMs = 0, ...options }: LeasesOptions) {
    this.#heardCancel = heardCancel
    this.#silentMs = silentMs
    this.#log = options.log
    this.#keeping = new Keeping({ ...options, tell: (news) => this.#hear(news) })
  }

  get count(): number {
    return this.#count
  }

  /** How many more leases the table has rows for. */
  get room(): number {
    return this.#keeping.table.room
  }

  get keeper(): 'thread' | 'main' {
    return this.#keeping.where
  }

  /** A lease this short is among those to come. */
  expect(windowMs: number): void {
    this.#keeping.expect(windowMs)
    // Renewed half way: there is as long for the silence to be found out and for the renewal to be said again.
    if (this.#warned || windowMs > 2 * this.#silentMs) return
    this.#warned = true
    this.#log.warn('a lease is too short to outlive a way to the store that falls silent', {
      lease_ms: windowMs,
      found_out_after_ms: this.#silentMs,
      reason: 'open with `answerWithin` below half of the shortest lease, or give the type a longer one',
    })
  }

  /** `expiresMs`: on the machine's clock. */
  place({ job, fence }: Assignment, expiresMs: number): LeasePlace {
    const { policy } = job.spec.kind
    return this.#keeping.table.add({
      id: job.id,
      generation: job.generation,
      attempt: job.attempt,
      fence,
      expiresMs,
      windowMs: leaseWindowMs(policy),
      beatEveryMs: policy.heartbeat ? policy.heartbeatMs : 0,
      limitMs: attemptMsOf(job),
    })
  }

  add(execution: Execution): void {
    if (this.#count === 0) this.#keeping.wake()
    this.#byRow[execution.place.row] = execution
    this.#count += 1
  }

  remove({ place }: Execution): void {
    this.#keeping.table.remove(place)
    this.#byRow[place.row] = undefined
    this.#count -= 1
  }

  leftMs({ place }: Execution, machineMs: number): number {
    return this.#keeping.table.leftMs(place, machineMs)
  }

  /** The worker's event loop is alive. */
  pulse(): void {
    this.#keeping.table.pulse()
  }

  stop(): Promise<void> {
    return this.#keeping.stop()
  }

  #hear(news: readonly LeaseNews[]): void {
    for (const { row, seq, lost, cancel } of news) {
      const execution = this.#byRow[row]
      if (execution === undefined || execution.place.seq !== seq) continue
      if (cancel !== undefined) execution.cancelRequested(this.#heardCancel(execution.assignment.job, cancel))
      // An outcome that is on its way ends the lease too: its own answer will tell.
      if (lost !== undefined && execution.mode !== 'ending') execution.lose(lost)
    }
  }
}
