/** What the library throws at its edge. Inside, refusals are values. */
import type { Failure, Job, JobId, TerminalState } from '../core/job.ts'
import type { Refusal, Violation } from '../core/refusal.ts'
import { ValidationError } from '../core/thrown.ts'

/** A command was not accepted. `refusal` says why, who owns the job now and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message} ${refusal.next}`)
    this.refusal = refusal
  }

  get code(): Refusal['code'] {
    return this.refusal.code
  }
}

/** An input, an option or a definition breaks rules: all of them, each with its place. Nothing was sent. */
export class Invalid extends ValidationError {
  readonly violations: readonly Violation[]

  constructor(what: string, violations: readonly Violation[]) {
    const [first] = violations
    super(`${what}: ${violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ')}`, {
      stage: 'input',
      context: first === undefined ? undefined : { path: first.field },
    })
    this.name = 'Invalid'
    this.violations = violations
  }
}

/** One of many that was not enqueued. */
export interface RefusedItem {
  /** Its place among the inputs. */
  readonly index: number
  readonly error: Error
}

const ITEMS_SHOWN = 5

/** Of many jobs some were not enqueued. `refused` says which and why; `enqueued` are handles of the others. */
export class SomeRefused<Handle = unknown> extends AggregateError {
  override readonly name = 'SomeRefused'
  readonly code = 'SOME_REFUSED'
  readonly refused: readonly RefusedItem[]
  readonly enqueued: readonly Handle[]

  constructor(asked: number, refused: readonly RefusedItem[], enqueued: readonly Handle[]) {
    const shown = refused.slice(0, ITEMS_SHOWN).map(({ index, error }) => `[${index}] ${error.message}`)
    const more = refused.length > ITEMS_SHOWN ? [`and ${refused.length - ITEMS_SHOWN} more`] : []
    const rest = enqueued.length === 0 ? 'nothing was enqueued' : `${enqueued.length} were enqueued`
    super(
      refused.map(({ error }) => error),
      `${refused.length} of ${asked} jobs were refused, ${rest}: ${[...shown, ...more].join('; ')}`,
    )
    this.refused = refused
    this.enqueued = enqueued
  }
}

/** The awaited job ended, and not well. What it left behind is on `job`. */
export abstract class JobEndedBadly extends Error {
  readonly job: Job
  /** The last error; undefined where nothing ever failed. */
  readonly failure: Failure | undefined

  constructor(name: string, job: Job, message: string) {
    super(message)
    this.name = name
    this.job = job
    this.failure = job.error ?? job.lastFailure
  }

  get id(): JobId {
    return this.job.id
  }

  /** The code of the error that ended it. */
  get code(): string | undefined {
    return this.job.error?.code
  }
}

export class JobFailed extends JobEndedBadly {
  constructor(job: Job) {
    super('JobFailed', job, `Job ${job.id} failed: ${reasonOf(job)}`)
  }
}

export class JobDeadLettered extends JobEndedBadly {
  constructor(job: Job) {
    super('JobDeadLettered', job, `Job ${job.id} is a dead letter (${job.deadLetter?.reason}): ${reasonOf(job)}`)
  }
}

export class JobCancelled extends JobEndedBadly {
  constructor(job: Job) {
    super('JobCancelled', job, `Job ${job.id} was cancelled: ${job.cancel?.reason ?? `by ${job.cancel?.by}`}`)
  }
}

export class JobDenied extends JobEndedBadly {
  constructor(job: Job) {
    super(
      'JobDenied',
      job,
      `Job ${job.id} was denied by rule ${job.verdict?.rule}: ${job.verdict?.reason ?? 'no reason given'}`,
    )
  }
}

export class JobTimedOut extends JobEndedBadly {
  constructor(job: Job) {
    super('JobTimedOut', job, `Job ${job.id} timed out: ${reasonOf(job)}`)
  }
}

/** A call was not answered in the time it was given. Whether it was done is not known. */
export class CallTimedOut extends Error {
  override readonly name: string = 'CallTimedOut'
  readonly code = 'CALL_TIMED_OUT'
  readonly waitedMs: number

  constructor(what: string, waitedMs: number, message?: string) {
    const unknown = 'Whether it was done is not known; what changes a job may be repeated with the same request id.'
    super(message ?? `${what} was not answered within ${waitedMs} ms. ${unknown}`)
    this.waitedMs = waitedMs
  }
}

/** The job has not ended; whoever waited for it did not want to wait any longer. */
export class WaitTimedOut extends CallTimedOut {
  override readonly name = 'WaitTimedOut'
  readonly id: JobId

  constructor(id: JobId, waitedMs: number) {
    const message = `Job ${id} had not ended after ${waitedMs} ms. It goes on; only the waiting has ended.`
    super('result', waitedMs, message)
    this.id = id
  }
}

/** Which error an ending is told by. Success is not told by an error. */
export const ENDINGS: Readonly<Record<TerminalState, (new (job: Job) => JobEndedBadly) | undefined>> = {
  succeeded: undefined,
  failed: JobFailed,
  dead_lettered: JobDeadLettered,
  cancelled: JobCancelled,
  denied: JobDenied,
  timed_out: JobTimedOut,
}

const reasonOf = ({ error }: Job): string =>
  error === undefined ? 'no reason given' : `${error.code}: ${error.message}`
