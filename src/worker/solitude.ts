/**
 * The one job of a worker that has to run alone in its process, from when it is held until nothing more is to be said about
 * it. Where one came there are likely to be more, and each that comes in company goes back at once: so from then on jobs
 * are asked for one by one, until one comes that need not be alone.
 */
import type { Log } from '../system/log.ts'
import type { Crew, Member } from './crew.ts'
import type { Execution } from './execution.ts'

export interface SolitudeParts {
  readonly crew: Crew
  readonly member: Member
  readonly log: Log
  readonly workerId: string
  readonly start: (execution: Execution) => void
}

export class Solitude {
  readonly #parts: SolitudeParts
  /** The execution that waits to run alone, or does. */
  #execution: Execution | undefined
  /** Those that came in its company and cannot be handed back. */
  readonly #behind: Execution[] = []
  #over: (() => void) | undefined
  #isWary = false

  constructor(parts: SolitudeParts) {
    this.#parts = parts
  }

  /** How many jobs may be asked for at a time. */
  get most(): number {
    if (this.#execution !== undefined) return 0
    return this.#isWary ? 1 : Number.POSITIVE_INFINITY
  }

  /** A job has come that need not be alone. */
  relax(): void {
    this.#isWary = false
  }

  await(execution: Execution): void {
    this.#isWary = true
    if (this.#execution !== undefined) {
      if (execution.isReturnable) execution.giveBack('handed_back')
      else this.#behind.push(execution)
      return
    }
    this.#execution = execution
    const isWaiting = () => this.#execution === execution && execution.mode === 'held'
    const { crew, member } = this.#parts
    void crew.alone({ member, isWaiting, run: () => this.#run(execution) })
  }

  settled(execution: Execution): void {
    if (execution !== this.#execution) return
    this.#execution = undefined
    this.#over?.()
    // Of those behind it one may have been lost meanwhile.
    const next = this.#behind.splice(0).filter(({ mode }) => mode === 'held')
    for (const each of next) this.await(each)
  }

  /** Hands back the job that waits to run alone. One that cannot be waits for its turn. */
  giveBack(reason: 'shutdown' | 'handed_back'): void {
    if (this.#execution?.isReturnable === true) this.#execution.giveBack(reason)
  }

  /** Called by the crew once nothing else runs in this process and every word of what ran has been written. Resolves when the job is over. */
  #run(execution: Execution): Promise<void> {
    const { log, workerId, start } = this.#parts
    const { id, attempt, spec } = execution.assignment.job
    const fields = { job_id: id, type: spec.kind.type, attempt, worker_id: workerId }
    log.info('a job runs alone: its last attempt ended without a word', fields)
    return new Promise((resolve) => {
      this.#over = resolve
      start(execution)
    })
  }
}
