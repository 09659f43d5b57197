/**
 * Why a command was not accepted. A closed union: each value says what was asked, why not, who owns the job now and
 * what to do next. The same object reaches the library, the CLI and HTTP. A refusal never changes a job.
 */
import type { JobId, State, Time } from './job.ts'
import type { CommandType } from './verb.ts'

/** One rule broken by an input: where, and what would have been right. */
export interface Violation {
  readonly field: string
  readonly rule: string
}

export const REFUSALS = {
  INVALID: {
    title: 'The input breaks a rule',
    why: 'A field of the command, the policy or the record is outside its bounds. The message lists every violation.',
    next: 'Correct the named fields and send it again. Nothing was changed.',
  },
  NOT_FOUND: {
    title: 'No such job',
    why: 'Nothing has this id: it never existed, or retention has removed it.',
    next: 'Check the id; look for the job by its labels or its correlation id.',
  },
  ILLEGAL_TRANSITION: {
    title: 'The machine has no such move',
    why: 'The command does not exist from the state the job is in.',
    next: 'Look at the job again: somebody else may have moved it. `pawl machine` shows every move.',
  },
  ENDED: {
    title: 'The job has ended',
    why: 'Terminal states never change within a generation.',
    next: 'Reopen the job if it should run again, or enqueue a new one.',
  },
  STALE_FENCE: {
    title: 'Another attempt owns the job',
    why: 'The fence belongs to a lease that is over: it expired, was released, or the job was cancelled.',
    next: 'Stop the handler and throw its result away. Its writes are not accepted any more.',
  },
  LEASE_EXPIRED: {
    title: 'The lease has expired',
    why: 'The lease ended by the store’s clock, and an owner whose lease has ended is an owner no longer.',
    next: 'Stop the handler. Heartbeat more often, or give the job type a longer lease.',
  },
  NOT_READY: {
    title: 'The job may not be claimed now',
    why: 'It is not due yet, its budget is spent, or a cancel was requested.',
    next: 'Where a time is stated, wait or reschedule the job to run now; else leave it to the ticker.',
  },
  NOT_DUE: {
    title: 'No timer has run out',
    why: 'The lease is still live, or no time limit of the job has passed by the store’s clock.',
    next: 'Nothing: the ticker looks again when the job’s next timer is due.',
  },
  REV_CONFLICT: {
    title: 'The job has moved on',
    why: 'The expected revision is not the record’s, and what happened in between was not the owner’s own heartbeats or progress.',
    next: 'Load the job, look at what happened, and decide again.',
  },
  REV_REQUIRED: {
    title: 'The dialect demands an expected revision',
    why: 'In strict 001 every command that names a job carries `expectedRev`.',
    next: 'Send the revision you last saw as `expectedRev`.',
  },
  REQUEST_ID_REUSED: {
    title: 'The request id was used for something else',
    why: 'An accepted command with this id had another type or other words.',
    next: 'Use a new request id for a new request.',
  },
  ID_TAKEN: {
    title: 'The id belongs to another job',
    why: 'A job with this id exists and was enqueued with other words.',
    next: 'Choose another id, or send exactly what was sent the first time.',
  },
  KEY_REUSED: {
    title: 'The idempotency key was used for another request',
    why: 'A job was enqueued under this key with other words: another input, priority, time, policy or label.',
    next: 'Use a new key for a new request, or send exactly what was sent the first time.',
  },
  KEY_TAKEN: {
    title: 'Another live job holds the dedupe key',
    why: 'At most one live job may have this (tenant, type, dedupeKey).',
    next: 'Wait for the holder to end, or cancel it, then reopen.',
  },
  KEY_BUSY: {
    title: 'A transaction that has not ended holds the key',
    why: 'Somebody has taken the key in a transaction that may still be rolled back: whether their job exists is not known yet.',
    next: 'Ask again when that transaction has ended. Yours, if you brought one, is as it was.',
  },
  INBOX_FULL: {
    title: 'The signal inbox is full',
    why: 'The job already keeps as many signals as it may that nobody has waited for.',
    next: 'Let the job consume its signals, or send fewer.',
  },
  LIMIT_REACHED: {
    title: 'The job has as much as it may have',
    why: 'Counters, artifacts, registered compensations, observations and bodies are bounded per job (docs/limits.md).',
    next: 'Keep large collections outside the job with a pointer here, report less often, or spread the work over several jobs.',
  },
  NOT_APPROVABLE: {
    title: 'There is no such approval to give',
    why: 'Nobody asked for one, what was asked about has changed, its time is over, it was given, or the rule wants another pair of eyes.',
    next: 'Look at what is asked for now: `approval` of the record. Whoever may not approve it asks somebody else.',
  },
  WRONG_PHASE: {
    title: 'The job is in the other phase',
    why: 'A compensating job cannot succeed, and only a compensating job can be compensated.',
    next: 'In phase `compensate` run the compensations in reverse order and say `compensated`.',
  },
  STRIPPED: {
    title: 'The bodies of the job were removed',
    why: 'It ended so long ago that retention has removed the texts beside it: input, output, memos. Its record and its log are still there.',
    next: 'Enqueue a new job with an input of your own. To keep bodies for longer, see `retention.bodiesMs` and `--keep bodies=…` (docs/operating.md).',
  },
  DIALECT_FORBIDS: {
    title: 'The job’s dialect does not know this',
    why: 'The job type is bound to a document that has no such command or move.',
    next: 'Use what the document offers, or enqueue the job under a type without a dialect.',
  },
  OTHERS_REFUSED: {
    title: 'Others of the same call were refused',
    why: 'The call asked for all or nothing, and not all of it could be accepted: nothing was enqueued.',
    next: 'Correct what was refused, and send all of them again.',
  },
  OVERLOADED: {
    title: 'Too much is waiting already',
    why: 'The queue in front of the store is full, or others spoke about the job for seconds without a gap: accepting more would only make everybody wait longer.',
    next: 'Try again after the stated time.',
  },
} as const

export type RefusalCode = keyof typeof REFUSALS

export interface Refusal {
  readonly code: RefusalCode
  readonly command: CommandType | undefined
  readonly job: JobId | undefined
  readonly state: State | undefined
  readonly rev: number | undefined
  /** Who owns the job now, and until when. */
  readonly owner: string | undefined
  readonly leaseExpiresAt: Time | undefined
  /** What happened and why, in a sentence about this very case. */
  readonly message: string
  /** What to do next. */
  readonly next: string
  /** For `INVALID`: all of them. Else empty. */
  readonly violations: readonly Violation[]
  /** For `KEY_TAKEN`, `KEY_REUSED` and `ID_TAKEN`: the job that has it. */
  readonly holder: JobId | undefined
  readonly retryAfterMs: number | undefined
}
