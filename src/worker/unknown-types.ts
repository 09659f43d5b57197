/** Jobs of types that nobody here has a handler for: handed back for somebody else, and said aloud once per type. */
import type { Log } from '../system/log.ts'
import type { Execution } from './execution.ts'
import type { Handler } from './handler.ts'

const DELAY_MS = 10_000

export class UnknownTypes {
  readonly #log: Log
  readonly #workerId: string
  readonly #seen = new Set<string>()

  constructor(log: Log, workerId: string) {
    this.#log = log
    this.#workerId = workerId
  }

  handBack(execution: Execution, now: number): void {
    const { type, queue } = execution.assignment.job.spec.kind
    if (!this.#seen.has(type)) {
      this.#seen.add(type)
      this.#log.warn('no handler for this type of job: handed back', { type, queue, worker_id: this.#workerId })
    }
    execution.giveBack('handed_back', now + DELAY_MS)
  }
}

/** Stands for the handler that a worker does not have. */
export const NOBODY: Handler = { input: undefined, output: undefined, run: () => undefined, undo: async () => {} }
