/** What the executions of a worker share, and the worker as they tell it of themselves. */
import type { Engine } from '../engine/engine.ts'
import type { Transaction } from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Execution } from './execution.ts'
import type { FailedAttempt } from './failed-attempt.ts'
import type { LastWord } from './last-word.ts'
import type { Outbox } from './outbox.ts'
import type { Spawn } from './spawn.ts'

export interface Desk {
  readonly engine: Engine
  readonly outbox: Outbox
  readonly clock: Clock
  readonly log: Log
  readonly actor: string
  /** Enqueues children; undefined where the composition root gave no way to. */
  readonly spawn: Spawn | undefined
  /** Runs work in a transaction of the store; undefined where it has none that a handler can take part in. */
  readonly transaction: (<T>(work: (tx: Transaction) => Promise<T>) => Promise<T>) | undefined
  /** The handler runs and has not answered at once. */
  began(execution: Execution): void
  /** The handler has let go: there is room for another. */
  vacated(execution: Execution): void
  /** Called once the last word has been answered: the lease can be forgotten. */
  settled(execution: Execution): void
  /** The attempt failed, and the store has it. */
  failed(failed: Omit<FailedAttempt, 'link'>, lastWord: LastWord): void
}
