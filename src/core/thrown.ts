/**
 * What handlers throw to say what an error means. Anything else they throw is classified by its code, and transient
 * where the table knows nothing. The classes are told apart by `errorClass`, never by identity, so that two copies of
 * this module in one process agree.
 */
import type { Stage } from './job.ts'
import type { ErrorClass } from './policy.ts'

export interface ThrownOptions {
  /** `E_429_RATE`, `invalid_url`: any code; the job type's table has the last word on its class. */
  readonly code?: string | undefined
  readonly stage?: Stage | undefined
  readonly context?: Readonly<Record<string, string>> | undefined
  /** Not before this many milliseconds. */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

export class JobError extends Error {
  readonly errorClass: ErrorClass
  readonly code: string
  readonly stage: Stage | undefined
  readonly context: Readonly<Record<string, string>> | undefined
  readonly retryAfterMs: number | undefined

  constructor(errorClass: ErrorClass, name: string, code: string, message: string, options: ThrownOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = name
    this.errorClass = errorClass
    this.code = options.code ?? code
    this.stage = options.stage
    this.context = options.context
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Worth another try. */
export class TransientError extends JobError {
  constructor(message: string, options: ThrownOptions = {}) {
    super('transient', 'TransientError', 'transient', message, options)
  }
}

/** No retry will help. */
export class PermanentError extends JobError {
  constructor(message: string, options: ThrownOptions = {}) {
    super('permanent', 'PermanentError', 'permanent', message, options)
  }
}

/** What was given does not have the shape that was promised. */
export class ValidationError extends JobError {
  constructor(message: string, options: ThrownOptions = {}) {
    super('validation', 'ValidationError', 'validation_failed', message, options)
  }
}

/** Somebody asks us to slow down: retried later, and on a slower curve. */
export class ThrottledError extends JobError {
  constructor(message: string, options: ThrownOptions = {}) {
    super('throttled', 'ThrottledError', 'throttled', message, options)
  }
}

/** What a fenced-out owner gets. Ours, never the job's fault. */
export class LeaseConflictError extends JobError {
  constructor(message: string, options: ThrownOptions = {}) {
    super('lease', 'LeaseConflictError', 'lease_expired', message, options)
  }
}
