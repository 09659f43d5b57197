/** What callers may say along with a command. */
import type { Duration } from './core/duration.ts'
import type { PriorityName } from './enqueue-options.ts'

export interface Asked {
  readonly actor?: string | undefined
  readonly requestId?: string | undefined
  readonly expectedRev?: number | undefined
  readonly tenant?: string | undefined
}

export interface CancelOptions extends Asked {
  /** `soft` (the default) asks the handler to stop; `hard` ends the job now and fences its owner out. */
  readonly mode?: 'soft' | 'hard' | undefined
  readonly reason?: string | undefined
}

export interface SignalOptions extends Asked {
  /** Only a wait with this correlation key is answered. */
  readonly key?: string | undefined
}

export interface RescheduleOptions extends Asked {
  readonly delay?: Duration | undefined
  readonly runAt?: Date | number | undefined
  readonly priority?: PriorityName | number | undefined
}

export interface ReopenOptions extends Asked {
  readonly reason?: string | undefined
  readonly runAt?: Date | number | undefined
}
