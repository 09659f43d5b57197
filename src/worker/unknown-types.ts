/**
 * Jobs of types that this worker has no handler for. They are handed back for those who have one, and this worker is not
 * given them again. Where nobody who is there knows a type, the log says so, once until somebody does.
 */
import type { Engine } from '../engine/engine.ts'
import { knows, Workers } from '../engine/workers.ts'
import type { Log } from '../system/log.ts'
import type { Execution } from './execution.ts'
import type { Handler } from './handler.ts'

export interface UnknownTypesParts {
  readonly engine: Pick<Engine, 'settings' | 'now'>
  readonly log: Log
  readonly workerId: string
}

/** How long the answer to who serves a type is relied on. */
const LOOK_EVERY_MS = 60_000

interface Looked {
  readonly at: number
  readonly warned: boolean
}

export class UnknownTypes {
  readonly #parts: UnknownTypesParts
  readonly #workers: Workers
  /** The last look, by tenant, queue and type. */
  readonly #looked = new Map<string, Looked>()

  constructor(parts: UnknownTypesParts) {
    this.#parts = parts
    this.#workers = new Workers(parts.engine)
  }

  handBack(execution: Execution): void {
    const { tenant, queue, type } = execution.assignment.job.spec.kind
    execution.giveBack('unknown_type')
    const name = JSON.stringify([tenant, queue, type])
    const now = this.#parts.engine.now()
    const { at, warned } = this.#looked.get(name) ?? { at: Number.NEGATIVE_INFINITY, warned: false }
    if (now - at < LOOK_EVERY_MS) return
    this.#looked.set(name, { at: now, warned })
    void this.#whoKnows(tenant, queue, type).then((who) => {
      this.#looked.set(name, { at: now, warned: who !== 'somebody' })
      if (who === 'somebody' || warned) return
      const { log, workerId } = this.#parts
      log.warn(WARNINGS[who], { type, queue, worker_id: workerId })
    })
  }

  async #whoKnows(tenant: string, queue: string, type: string): Promise<'somebody' | 'nobody' | 'who knows'> {
    try {
      const there = await this.#workers.serving(tenant, queue)
      return there.some((worker) => knows(worker, type)) ? 'somebody' : 'nobody'
    } catch {
      return 'who knows'
    }
  }
}

const WARNINGS = {
  nobody: 'no worker that is there knows this type of job: it waits for one that does',
  /** A worker's token may not ask who works. */
  'who knows': 'no handler for this type of job: handed back for a worker that knows it',
} as const

/** Stands for the handler that a worker does not have. */
export const NOBODY: Handler = { input: undefined, output: undefined, run: () => undefined, undo: async () => {} }
