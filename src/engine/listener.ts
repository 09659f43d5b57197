import { reasonOf } from '../core/reason.ts'
import type { Hint } from '../store/store.ts'
import { isolating } from '../system/isolated.ts'
import type { Log } from '../system/log.ts'

/** A listener that may throw: it misses that hint, and the other listeners do not. */
export const listener = (wake: (hint: Hint) => void, log: Log): ((hint: Hint) => void) =>
  isolating(wake, (thrown) => log.warn('a listener failed', { reason: reasonOf(thrown) }))
