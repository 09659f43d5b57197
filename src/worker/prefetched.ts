/** Jobs that are claimed and not started, first in, first out. */
import { leaseWindowMs } from '../core/timers.ts'
import type { Execution } from './execution.ts'

/** What has been taken is let go of after so many: where work flows, the list is never empty. */
const FORGET_AFTER = 1_000

export class Prefetched {
  #executions: Execution[] = []
  /** What lies before it has been taken: shifting an array of a thousand for every job would show. */
  #head = 0

  get size(): number {
    return this.#executions.length - this.#head
  }

  add(execution: Execution): void {
    this.#executions.push(execution)
  }

  /** The next that is still ours to start. */
  take(): Execution | undefined {
    while (this.#head < this.#executions.length) {
      const execution = this.#executions[this.#head] as Execution
      this.#head += 1
      if (this.#head === this.#executions.length || this.#head === FORGET_AFTER) {
        this.#executions = this.#executions.slice(this.#head)
        this.#head = 0
      }
      // Otherwise lost, or handed back, while it was held.
      if (execution.mode === 'held') return execution
    }
    return undefined
  }

  /** What has been held for half a lease is somebody else's chance. Answers when to look again. */
  giveBackStale(nowMs: number): number {
    for (let i = this.#head; i < this.#executions.length; i += 1) {
      const execution = this.#executions[i] as Execution
      const dueMs = execution.heldSinceMs + leaseWindowMs(execution.assignment.job.spec.kind.policy) / 2
      if (dueMs > nowMs) return dueMs
      execution.giveBack('handed_back')
    }
    return Number.POSITIVE_INFINITY
  }

  giveBackAll(reason: 'shutdown' | 'handed_back'): void {
    for (let next = this.take(); next !== undefined; next = this.take()) next.giveBack(reason)
  }
}
