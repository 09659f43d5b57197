import { reasonOf } from '../core/reason.ts'
import type { Hint } from '../store/store.ts'
import { isolating } from '../system/isolated.ts'
import type { Log } from '../system/log.ts'

/** Somebody's listener, as an engine hands it on: one that throws misses a hint, and nobody else does. */
export const listener = (wake: (hint: Hint) => void, log: Log): ((hint: Hint) => void) =>
  isolating(wake, (thrown) => log.warn('a listener failed', { reason: reasonOf(thrown) }))
