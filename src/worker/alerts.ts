/**
 * Hints say that a job which runs here was changed: perhaps it is to be cancelled, perhaps it has another owner by now. Such
 * jobs are looked at together and not too often, because most hints are about what this very worker did.
 */
import type { Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import type { Execution } from './execution.ts'

const LOOK_EVERY_MS = 100
/** Some stores can only say that something has changed; where thousands run, heartbeats tell soon enough. */
const PAUSE_PER_JOB_MS = 2

export class Alerts {
  readonly #engine: Pick<Engine, 'load'>
  readonly #running: ReadonlyMap<string, Execution>
  readonly #touched = new Set<string>()
  #lookAtMs = 0

  constructor(engine: Pick<Engine, 'load'>, running: ReadonlyMap<string, Execution>) {
    this.#engine = engine
    this.#running = running
  }

  /** When to look: never, while there is nothing to look at. */
  get dueMs(): number {
    return this.#touched.size === 0 ? Number.POSITIVE_INFINITY : this.#lookAtMs
  }

  hint(hint: Hint): void {
    if (hint.about === 'anything') for (const id of this.#running.keys()) this.#touched.add(id)
    else if (hint.about === 'job' && this.#running.has(hint.id)) this.#touched.add(hint.id)
  }

  async look(nowMs: number): Promise<void> {
    if (this.dueMs > nowMs) return
    const executions = [...this.#touched].map((id) => this.#running.get(id)).filter((found) => found !== undefined)
    this.#lookAtMs = nowMs + Math.max(LOOK_EVERY_MS, executions.length * PAUSE_PER_JOB_MS)
    this.#touched.clear()
    if (executions.length === 0) return
    const { items } = await this.#engine.load(executions.map(({ assignment }) => ({ id: assignment.job.id })))
    for (const [i, execution] of executions.entries()) {
      const job = items[i]?.job
      if (execution.mode !== 'running') continue
      // By the attempt, which no two owners share: over HTTP fences are hidden.
      const owned = job?.lease !== undefined && job.attempt === execution.assignment.job.attempt
      if (!owned) execution.lose('The job has another owner, or none.')
      else if (job.cancel !== undefined) execution.cancelRequested(job.cancel)
    }
  }
}
