/** What a handler throws to say what its error means, and why its signal was aborted. */
import type { Duration } from '../core/duration.ts'
import type { Stage } from '../core/job.ts'
import type { ErrorClass } from '../core/policy.ts'

export interface JobErrorOptions extends ErrorOptions {
  /** Looked up in the job type's table, then in the default one. */
  readonly code?: string | undefined
  readonly stage?: Stage | undefined
  /** Small words for people: domain, url. */
  readonly context?: Readonly<Record<string, string>> | undefined
  /** Never sooner than this. */
  readonly retryAfter?: Duration | undefined
}

/** Four classes of error, four classes: each knows the code it has unless told otherwise. */
abstract class JobError extends Error {
  abstract readonly class: ErrorClass
  readonly code: string
  readonly stage: Stage | undefined
  readonly context: Readonly<Record<string, string>> | undefined
  readonly retryAfter: Duration | undefined

  constructor(message: string, code: string, options: JobErrorOptions) {
    super(message, options)
    this.code = options.code ?? code
    this.stage = options.stage
    this.context = options.context
    this.retryAfter = options.retryAfter
  }
}

/** Try again. */
export class TransientError extends JobError {
  override readonly name = 'TransientError'
  readonly class = 'transient'
  constructor(message: string, options: JobErrorOptions = {}) {
    super(message, 'transient', options)
  }
}

/** Trying again would end the same way. */
export class PermanentError extends JobError {
  override readonly name = 'PermanentError'
  readonly class = 'permanent'
  constructor(message: string, options: JobErrorOptions = {}) {
    super(message, 'permanent', options)
  }
}

/** The input, or what came back, is not what it has to be. */
export class ValidationError extends JobError {
  override readonly name = 'ValidationError'
  readonly class = 'validation'
  constructor(message: string, options: JobErrorOptions = {}) {
    super(message, 'validation_failed', options)
  }
}

/** Somebody wants us to slow down. */
export class ThrottledError extends JobError {
  override readonly name = 'ThrottledError'
  readonly class = 'throttled'
  constructor(message: string, options: JobErrorOptions = {}) {
    super(message, 'throttled', options)
  }
}

export const isJobError = (error: unknown): error is JobError => error instanceof JobError

/** Abort reason: the lease is over or about to be; nothing this handler says will be accepted. */
export class LeaseConflictError extends Error {
  override readonly name = 'LeaseConflictError'
  readonly code = 'lease_expired'
}

/** Abort reason: somebody wants the job cancelled. Let go, and it is. */
export class CancelRequestedError extends Error {
  override readonly name = 'CancelRequestedError'
  readonly code = 'cancel_requested'
}

/** Abort reason: the attempt's time limit has passed. */
export class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError'
  readonly code = 'E_TIMEOUT'
}

/** Abort reason: the worker goes away; the job is handed back and burns no budget. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError'
  readonly code = 'shutdown'
}

/** Thrown out of the handler by `waitFor`, `sleep`, `snooze`, `cancel` and `deadLetter`. Let it pass. */
export class Suspension extends Error {
  override readonly name = 'Suspension'
  readonly code = 'suspended'
}
