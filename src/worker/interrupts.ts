/** Why a handler's signal is aborted, besides a lost lease (`LeaseConflictError`). Each is the signal's `reason`. */

/** Thrown to a handler whose job is to be cancelled: once it lets go, the job is. */
export class CancelRequestedError extends Error {
  override readonly name = 'CancelRequestedError'
  readonly code = 'cancel_requested'
}

/** The attempt's time limit has passed. */
export class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError'
  readonly code = 'E_TIMEOUT'
}

/** The worker goes away; the job is handed back and burns no budget. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError'
  readonly code = 'shutdown'
}

/** Thrown out of the handler by `waitFor`, `sleep`, `snooze`, `cancel` and `deadLetter`: let it pass. */
export class Suspension extends Error {
  override readonly name = 'Suspension'
  readonly code = 'suspended'
}

/** Ours, never a handler's: the run cannot be made here after all, and nothing of it has begun. The job is handed back. */
export class CannotRunHere extends Error {
  override readonly name = 'CannotRunHere'
}

/** A wait, a shutdown and a requested cancel end a run, and are nobody's error. What was thrown may be anything. */
export function isOrderly(thrown: unknown): boolean {
  try {
    return thrown instanceof Suspension || thrown instanceof ShutdownError || thrown instanceof CancelRequestedError
  } catch {
    return false
  }
}
