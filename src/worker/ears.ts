/** What a worker hears: that there may be work, and that somebody has changed a job it runs. */
import { reasonOf } from '../core/reason.ts'
import type { Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Alerts } from './alerts.ts'

export interface EarsParts {
  readonly engine: Pick<Engine, 'subscribe'>
  readonly log: Log
  readonly workerId: string
  /** Names of the queues it serves, whoever they belong to: enough to tell most hints apart. */
  readonly queues: ReadonlySet<string>
  /** Types it has handlers for: what needs another is not for it. */
  readonly serves: readonly string[]
  readonly alerts: Alerts
  /** There may be work. */
  readonly wake: () => void
  /** There is something to be looked at by then. */
  readonly alert: (dueMs: number) => void
}

export class Ears {
  readonly #parts: EarsParts
  readonly #subscription: Promise<AsyncDisposable | undefined>

  constructor(parts: EarsParts) {
    this.#parts = parts
    this.#subscription = this.#subscribe()
  }

  async close(): Promise<void> {
    await (await this.#subscription)?.[Symbol.asyncDispose]()
  }

  async #subscribe(): Promise<AsyncDisposable | undefined> {
    const { engine, log, workerId } = this.#parts
    try {
      const subscription = await engine.subscribe((hint) => this.#hear(hint))
      // Until now nobody heard anything: a job that was claimed meanwhile may have been cancelled since.
      this.#hear({ about: 'anything' })
      return subscription
    } catch (error) {
      log.warn('no hints: work is found by polling', { worker_id: workerId, reason: reasonOf(error) })
      return undefined
    }
  }

  #hear(hint: Hint): void {
    const { alerts, wake, alert } = this.#parts
    if (this.#isWork(hint)) wake()
    const beforeMs = alerts.dueMs
    alerts.hint(hint)
    if (alerts.dueMs < beforeMs) alert(alerts.dueMs)
  }

  #isWork(hint: Hint): boolean {
    if (hint.about !== 'queue') return hint.about === 'anything'
    const { queues, serves } = this.#parts
    return queues.has(hint.queue) && (hint.needs === undefined || serves.includes(hint.needs))
  }
}
