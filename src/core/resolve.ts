/**
 * From what a caller writes to the policy a job is born with. Everything left out has a default, from the job's
 * dialect where it has one; every value is checked against `limits.ts`, and all violations come back at once.
 */
import { bondOf } from './dialects/bond.ts'
import { forbidden } from './dialects/forbidden.ts'
import { type DuplicatesInput, duplicates, FORMER } from './duplicates.ts'
import type { Duration } from './duration.ts'
import { type LimitInput, resolveLimits } from './flow/limit-input.ts'
import { COUNTS, DURATIONS, LENGTHS, SIZES } from './limits.ts'
import {
  type Curve,
  DIALECT_NAMES,
  type DialectName,
  ERROR_CLASSES,
  type ErrorClass,
  type Jitter,
  type Policy,
} from './policy.ts'
import { count, duration, factor, flag, isFields, oneOf, part } from './policy-words.ts'
import { DEFAULTS, PRESETS } from './presets.ts'
import type { Violation } from './refusal.ts'
import { leaseWindowMs } from './timers.ts'
import { unknownWords, wordsOf } from './unknown-words.ts'

/** Delay before retry n: `min(max, base · factor^(n-1))`, jittered. */
export interface CurveInput {
  /**
   * The first delay.
   * @default '2s'; '10s' for throttled errors
   */
  readonly base?: Duration | undefined
  /**
   * By how much each delay is longer than the one before.
   * @default 2
   */
  readonly factor?: number | undefined
  /**
   * The longest delay.
   * @default '60s'; '10m' for throttled errors
   */
  readonly max?: Duration | undefined
  /**
   * `full`: anything up to the delay; `equal`: half of it and anything up to the other half; `none`: the delay itself.
   * @default 'full'; 'equal' for throttled errors
   */
  readonly jitter?: Jitter | undefined
}

export interface RetryInput extends CurveInput {
  /**
   * Executions that may end in failure, the first included: an always failing handler runs exactly so often.
   * @default 7
   */
  readonly attempts?: number | undefined
  /**
   * Leases that may be lost besides: by crashes and deploys, which are not the handler's fault.
   * @default 3
   */
  readonly stalls?: number | undefined
  /**
   * `shared`: a lost lease counts as an attempt.
   * @default 'separate'
   */
  readonly budget?: 'separate' | 'shared' | undefined
  /**
   * The curve for errors of class `throttled` (`ThrottledError`, `captcha`, `403_waf`, `503_shield`).
   * @default slower and further than the other
   */
  readonly throttled?: CurveInput | undefined
}

/** The words of `defineJob` about how a job is leased, retried and ended. Defaults are those of a job without `dialect`. */
export interface PolicyInput {
  /**
   * Binds the type to one of the five documents, to the letter: what it does not know is refused, its defaults apply.
   * @default none
   */
  readonly dialect?: DialectName | undefined
  /**
   * How long a worker owns the job without renewing; heartbeats renew it. From 1 s to a day. It is granted for as long, or for
   * the heartbeats that may be missed (`missedHeartbeats`) and a second, whichever is shorter: for 31 s by default.
   * @default '60s'
   */
  readonly lease?: Duration | undefined
  /**
   * How often the lease is renewed, or `false`: then the lease must outlast the attempt.
   * @default '15s', at most half the lease
   */
  readonly heartbeat?: Duration | false | undefined
  /**
   * The lease is lost after so many missed heartbeats, where that is sooner than its end.
   * @default 2
   */
  readonly missedHeartbeats?: number | undefined
  /**
   * How long one attempt may run; then the handler's signal aborts, and the attempt has failed with `E_TIMEOUT`.
   * @default '5m'
   */
  readonly timeout?: Duration | undefined
  /**
   * How long the job may take in all, from enqueue or reopening (in document 004 from its first start); then it is
   * `timed_out`.
   * @default none
   */
  readonly deadline?: Duration | undefined
  /**
   * How soon it must have been started once it may run; else `onNotStarted`. In document 002 it counts from the claim.
   * @default none
   */
  readonly startWithin?: Duration | undefined
  /**
   * A wait longer than this is `parked`: no scheduler looks at the job until it is woken.
   * @default '60s'
   */
  readonly parkAfter?: Duration | undefined
  /**
   * How long a handler may take to stop after a soft cancel; then the cancel is hard.
   * @default '30s'
   */
  readonly cancelGrace?: Duration | undefined
  /**
   * How long undoing the steps of a job that did not succeed may take.
   * @default '1h'
   */
  readonly compensateWithin?: Duration | undefined
  /**
   * How often, and when, it is tried again.
   * @default 7 attempts, from 2 s to 60 s, jittered
   */
  readonly retry?: RetryInput | undefined
  /**
   * What errors mean, by their `code`: `{ SMTP_550: 'permanent' }`. Consulted before the error's own class.
   * @default docs/errors.md has the table; what is not in it is transient
   */
  readonly errors?: Readonly<Record<string, ErrorClass>> | undefined
  /**
   * What becomes of a job whose attempts or stalls are spent.
   * @default 'dead_letter'
   */
  readonly onExhausted?: 'failed' | 'dead_letter' | undefined
  /**
   * What becomes of a job whose input its schema does not accept.
   * @default 'dead_letter'
   */
  readonly onInvalid?: 'failed' | 'dead_letter' | undefined
  /**
   * Whether an attempt that takes too long has failed, and may be tried again, or ends the job.
   * @default 'fail'
   */
  readonly onTimeout?: 'fail' | 'timed_out' | undefined
  /**
   * What becomes of a job whose lease was lost: queued again at once, tried again later, or ended.
   * @default 'requeue'
   */
  readonly onStall?: 'requeue' | 'retry' | 'timed_out' | undefined
  /**
   * What becomes of a job that was claimed and not started in time.
   * @default 'stalled'
   */
  readonly onNotStarted?: 'stalled' | 'timed_out' | undefined
  /**
   * Whether a wait that was in vain goes on with `timedOut`, or ends the job.
   * @default 'resume'
   */
  readonly onWaitTimeout?: 'resume' | 'timed_out' | undefined
  /**
   * New jobs are `pending` until somebody admits them.
   * @default false; true in document 002, which has it so
   */
  readonly admission?: boolean | undefined
  /**
   * Handlers tolerate being run again under the same id. Only document 002 asks: `false` makes each retry a new job there.
   * @default true
   */
  readonly idempotent?: boolean | undefined
  /**
   * How long a dedupe key is held, and what a second enqueue under it does.
   * @default while the job lives; a duplicate is answered with the job there is
   */
  readonly dedupe?: DuplicatesInput | undefined
  /**
   * Codes of errors that tell of what is behind a limit's key, as `E_5XX_ORIGIN` and `network_error` do: five in a row, and
   * nothing is let in for a while.
   * @default none besides those
   */
  readonly breaking?: readonly string[] | undefined
}

/** A policy as a job type has it: with the numbers for its jobs' limit keys, in their order. */
export interface TypePolicy extends PolicyInput {
  readonly limits?: readonly LimitInput[] | undefined
}

export const POLICY_WORDS = wordsOf<TypePolicy>({
  dialect: true,
  lease: true,
  heartbeat: true,
  missedHeartbeats: true,
  timeout: true,
  deadline: true,
  startWithin: true,
  parkAfter: true,
  cancelGrace: true,
  compensateWithin: true,
  retry: true,
  errors: true,
  onExhausted: true,
  onInvalid: true,
  onTimeout: true,
  onStall: true,
  onNotStarted: true,
  onWaitTimeout: true,
  admission: true,
  idempotent: true,
  dedupe: true,
  breaking: true,
  limits: true,
})

export type Resolved =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly violations: readonly Violation[] }

export function resolvePolicy(input: TypePolicy): Resolved {
  const v: Violation[] = []
  if (!isFields(input)) return { ok: false, violations: [{ field: 'policy', rule: 'must be an object' }] }
  v.push(...unknownWords(input, POLICY_WORDS).filter(({ field }) => field !== FORMER))
  const dialect = oneOf(v, 'dialect', input.dialect, DIALECT_NAMES)
  const base: Policy = dialect === undefined ? DEFAULTS : { ...DEFAULTS, ...PRESETS[dialect], dialect }
  const retry: Partial<RetryInput> = part(v, 'retry', input.retry, [
    ...CURVE_WORDS,
    'attempts',
    'stalls',
    'budget',
    'throttled',
  ])
  const heartbeat = input.heartbeat === undefined ? base.heartbeat : input.heartbeat !== false
  const attemptMs = duration(v, 'timeout', input.timeout, DURATIONS.attemptMs) ?? base.attemptMs
  const unsaid = heartbeat ? base.leaseMs : Math.min(attemptMs + 1_000, DURATIONS.leaseMs.max)
  const leaseMs = duration(v, 'lease', input.lease, DURATIONS.leaseMs) ?? unsaid
  const beat = input.heartbeat === false ? undefined : input.heartbeat
  const policy: Policy = {
    dialect,
    leaseMs,
    heartbeat,
    heartbeatMs:
      duration(v, 'heartbeat', beat, DURATIONS.heartbeatMs) ?? Math.min(base.heartbeatMs, Math.floor(leaseMs / 2)),
    missedHeartbeats:
      count(v, 'missedHeartbeats', input.missedHeartbeats, COUNTS.missedHeartbeats) ?? base.missedHeartbeats,
    attemptMs,
    deadlineMs: duration(v, 'deadline', input.deadline, DURATIONS.deadlineMs) ?? base.deadlineMs,
    startWithinMs: duration(v, 'startWithin', input.startWithin, DURATIONS.startWithinMs) ?? base.startWithinMs,
    parkAfterMs: duration(v, 'parkAfter', input.parkAfter, DURATIONS.parkAfterMs) ?? base.parkAfterMs,
    cancelGraceMs: duration(v, 'cancelGrace', input.cancelGrace, DURATIONS.cancelGraceMs) ?? base.cancelGraceMs,
    compensateWithinMs:
      duration(v, 'compensateWithin', input.compensateWithin, DURATIONS.compensateWithinMs) ?? base.compensateWithinMs,
    maxAttempts: count(v, 'retry.attempts', retry.attempts, COUNTS.maxAttempts) ?? base.maxAttempts,
    maxStalls: count(v, 'retry.stalls', retry.stalls, COUNTS.maxStalls) ?? base.maxStalls,
    budget: oneOf(v, 'retry.budget', retry.budget, ['separate', 'shared']) ?? base.budget,
    retry: curve(v, 'retry', retry, base.retry),
    throttled: curve(v, 'retry.throttled', part(v, 'retry.throttled', retry.throttled, CURVE_WORDS), base.throttled),
    errors: errorTable(v, input.errors) ?? base.errors,
    retryFailures: base.retryFailures,
    onExhausted: ending(v, 'onExhausted', input.onExhausted) ?? base.onExhausted,
    onInvalid: ending(v, 'onInvalid', input.onInvalid) ?? base.onInvalid,
    onAttemptTimeout: oneOf(v, 'onTimeout', input.onTimeout, ['fail', 'timed_out']) ?? base.onAttemptTimeout,
    onStall: oneOf(v, 'onStall', input.onStall, ['requeue', 'retry', 'timed_out']) ?? base.onStall,
    onNotStarted: oneOf(v, 'onNotStarted', input.onNotStarted, ['stalled', 'timed_out']) ?? base.onNotStarted,
    onWaitTimeout: oneOf(v, 'onWaitTimeout', input.onWaitTimeout, ['resume', 'timed_out']) ?? base.onWaitTimeout,
    admission: flag(v, 'admission', input.admission) ?? base.admission,
    idempotent: flag(v, 'idempotent', input.idempotent) ?? base.idempotent,
    ...duplicates(v, input, base),
    ...resolveLimits(input, v),
  }
  v.push(...disagreements(policy))
  return v.length === 0 ? { ok: true, policy } : { ok: false, violations: v }
}

/** Rules between fields, what strict 000 demands of leases, and what a document has no moves for. */
function disagreements(policy: Policy): readonly Violation[] {
  const v: Violation[] = []
  if (policy.heartbeat && policy.heartbeatMs >= policy.leaseMs) {
    v.push({ field: 'heartbeat', rule: `must be shorter than the lease (${policy.leaseMs} ms)` })
  }
  if (!policy.heartbeat && policy.leaseMs < policy.attemptMs) {
    v.push({ field: 'lease', rule: `without heartbeats it must outlast the attempt (${policy.attemptMs} ms)` })
  }
  if (policy.retry.maxMs < policy.retry.baseMs)
    v.push({ field: 'retry.max', rule: 'must not be shorter than retry.base' })
  if (policy.throttled.maxMs < policy.throttled.baseMs) {
    v.push({ field: 'retry.throttled.max', rule: 'must not be shorter than retry.throttled.base' })
  }
  if (policy.dialect === '000A' || policy.dialect === '000B') {
    if (policy.leaseMs < 30_000 || policy.leaseMs > 120_000)
      v.push({ field: 'lease', rule: 'strict 000: 30 s to 120 s' })
    if (policy.heartbeatMs < 10_000 || policy.heartbeatMs > 30_000)
      v.push({ field: 'heartbeat', rule: 'strict 000: 10 s to 30 s' })
  }
  const { startWithinMs } = policy
  if (bondOf(policy).startsAfterClaim && startWithinMs !== undefined && startWithinMs < leaseWindowMs(policy)) {
    const rule = `strict ${policy.dialect}: it counts from the claim, whose lease is ${leaseWindowMs(policy)} ms long`
    v.push({ field: 'startWithin', rule })
  }
  v.push(...forbidden(policy))
  return v
}

const CURVE_WORDS = ['base', 'factor', 'max', 'jitter']

/** `dead_letter` is what people say, `dead_lettered` what becomes of the job. */
function ending(
  v: Violation[],
  field: string,
  value: 'failed' | 'dead_letter' | undefined,
): 'failed' | 'dead_lettered' | undefined {
  const said = oneOf(v, field, value, ['failed', 'dead_letter'])
  return said === 'dead_letter' ? 'dead_lettered' : said
}

const curve = (v: Violation[], field: string, input: CurveInput, base: Curve): Curve => ({
  baseMs: duration(v, `${field}.base`, input.base, DURATIONS.baseMs) ?? base.baseMs,
  factor: factor(v, `${field}.factor`, input.factor) ?? base.factor,
  maxMs: duration(v, `${field}.max`, input.max, DURATIONS.maxMs) ?? base.maxMs,
  jitter: oneOf(v, `${field}.jitter`, input.jitter, ['full', 'equal', 'none']) ?? base.jitter,
})

function errorTable(v: Violation[], table: Readonly<Record<string, ErrorClass>> | undefined) {
  if (table === undefined) return undefined
  if (!isFields(table)) {
    v.push({ field: 'errors', rule: 'must be an object' })
    return undefined
  }
  const entries = Object.entries(table)
  if (entries.length > SIZES.errors) v.push({ field: 'errors', rule: `must have at most ${SIZES.errors} codes` })
  for (const [code, name] of entries) {
    if (code === '' || code === '__proto__' || code.length > LENGTHS.name)
      v.push({ field: 'errors', rule: `a code is text of 1 to ${LENGTHS.name} characters, and not __proto__` })
    if (!ERROR_CLASSES.includes(name))
      v.push({ field: `errors.${code.slice(0, 40)}`, rule: `must be one of ${ERROR_CLASSES.join(', ')}` })
  }
  return table
}
