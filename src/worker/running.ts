/** The handlers of a worker that are under way: how many, and those among them that did not answer at once. */
import { leaseWindowMs } from '../core/timers.ts'
import type { Execution } from './execution.ts'

/** What a look at the running executions found: when to look again, and how long they have taken so far, together. */
export interface Seen {
  readonly nextMs: number
  readonly tookMs: number
}

export class Running {
  /** Executions whose handlers did not answer at once, by job. */
  readonly late = new Map<string, Execution>()
  #count = 0
  /** Resolved when no execution runs any more. */
  #untilNone: (() => void)[] = []

  get count(): number {
    return this.#count
  }

  start(execution: Execution): void {
    this.#count += 1
    execution.start()
  }

  isLate(execution: Execution): void {
    this.late.set(execution.assignment.job.id, execution)
  }

  /** Answers whether it ended before its call returned. */
  leave(execution: Execution): boolean {
    const wasLate = this.late.delete(execution.assignment.job.id)
    this.#count -= 1
    if (this.#count === 0) for (const resolve of this.#untilNone.splice(0)) resolve()
    return !wasLate
  }

  async none(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#untilNone.push(resolve))
  }

  /** The watchdog: a handler is stopped before its lease can end elsewhere. `leftMs`: of its lease. */
  watch(nowMs: number, leftMs: (execution: Execution) => number): Seen {
    let nextMs = Number.POSITIVE_INFINITY
    let tookMs = 0
    for (const execution of this.late.values()) {
      const windowMs = leaseWindowMs(execution.assignment.job.spec.kind.policy)
      const spareMs = leftMs(execution) - windowMs / 10
      if (spareMs <= 0) execution.lose('The lease could not be renewed in time.')
      else nextMs = Math.min(nextMs, nowMs + spareMs, execution.pulse(nowMs))
      tookMs += nowMs - execution.startedMs
    }
    return { nextMs, tookMs }
  }
}
