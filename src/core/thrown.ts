/**
 * What handlers throw to say what an error means. Anything else they throw is classified by its code, and transient
 * where the table knows nothing. The classes are told apart by `errorClass`, never by identity, so that two copies of
 * this module in one process agree.
 */
import type { Stage } from './job.ts'
import type { ErrorClass } from './policy.ts'

export interface ThrownOptions {
  /**
   * `E_429_RATE`, `invalid_url`: any code; the job type's table has the last word on its class.
   * @default the name of the class, in small letters: `transient`, `permanent`, …
   */
  readonly code?: string | undefined
  /**
   * Where it happened: `fetch`, `input`, `exec`, `output`, `commit`.
   * @default 'exec'
   */
  readonly stage?: Stage | undefined
  /**
   * A few words about it, up to 16: domain, url, path.
   * @default none
   */
  readonly context?: Readonly<Record<string, string>> | undefined
  /**
   * When to try again, in milliseconds from now: taken as it is plus up to a tenth, whatever the backoff curve says; at most
   * a day, and not beyond the job's deadline.
   * @default the curve of the job's policy
   */
  readonly retryAfterMs?: number | undefined
  /**
   * The same as a server says it: the text of a `Retry-After` header (seconds, or a date), a duration (`'90s'`), or a
   * `Date`; a number is milliseconds. `{ retryAfter: response.headers.get('retry-after') }` will do. Errors of other
   * libraries need not be translated: a `Retry-After` in their `headers` or `response.headers` is found.
   * @default the curve of the job's policy
   */
  readonly retryAfter?: string | number | Date | null | undefined
  /**
   * Which of the job's limit keys it tells of.
   * @default the one that its type marks `adaptive`, else the first
   */
  readonly key?: string | undefined
  /**
   * What caused it.
   * @default nothing
   */
  readonly cause?: unknown
}

export class JobError extends Error {
  readonly errorClass: ErrorClass
  readonly code: string
  readonly stage: Stage | undefined
  readonly context: Readonly<Record<string, string>> | undefined
  readonly retryAfterMs: number | undefined
  readonly retryAfter: ThrownOptions['retryAfter']
  readonly key: string | undefined

  constructor(errorClass: ErrorClass, name: string, code: string, message: string, options: ThrownOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = name
    this.errorClass = errorClass
    this.code = options.code ?? code
    this.stage = options.stage
    this.context = options.context
    this.retryAfterMs = options.retryAfterMs
    this.retryAfter = options.retryAfter
    this.key = options.key
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
