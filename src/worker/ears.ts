/** A worker's subscription to hints: that there may be work, and that a job it runs was changed. */

import { servedBy } from '../core/needs.ts'
import { reasonOf } from '../core/reason.ts'
import type { Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Alerts } from './alerts.ts'

export interface EarsParts {
  readonly engine: Pick<Engine, 'subscribe'>
  readonly log: Log
  readonly workerId: string
  /** Names of the queues it serves, without their tenants: enough to tell most hints apart. */
  readonly queues: ReadonlySet<string>
  /** Words it serves: what needs others is not for it. */
  readonly serves: readonly string[] | undefined
  readonly alerts: Alerts
  /** Called when a queue may have work. */
  readonly wake: () => void
  /** Called with when jobs that were changed are to be looked at. */
  readonly alert: (dueMs: number) => void
}

export class Ears {
  readonly #parts: EarsParts
  readonly #isServed: (need: string) => boolean
  readonly #subscription: Promise<AsyncDisposable | undefined>

  constructor(parts: EarsParts) {
    this.#parts = parts
    this.#isServed = servedBy(parts.serves)
    this.#subscription = this.#subscribe()
  }

  async close(): Promise<void> {
    await (await this.#subscription)?.[Symbol.asyncDispose]()
  }

  async #subscribe(): Promise<AsyncDisposable | undefined> {
    const { engine, log, workerId } = this.#parts
    try {
      const subscription = await engine.subscribe((hint) => this.#hear(hint))
      // Hints before the subscription were not heard: a job that was claimed meanwhile may have been cancelled since.
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
    const { queues } = this.#parts
    return queues.has(hint.queue) && (hint.needs === undefined || this.#isServed(hint.needs))
  }
}
