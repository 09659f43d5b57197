/**
 * From what a caller writes to the policy a job is born with. Everything left out has a default, from the job's
 * dialect where it has one; every value is checked against `limits.ts`, and all violations come back at once.
 */
import { DURATION_RULE, type Duration, parseDuration } from './duration.ts'
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
import { DEFAULTS, PRESETS } from './presets.ts'
import type { Violation } from './refusal.ts'

export interface CurveInput {
  readonly base?: Duration | undefined
  readonly factor?: number | undefined
  readonly max?: Duration | undefined
  readonly jitter?: Jitter | undefined
}

/** The words of `defineJob`. */
export interface PolicyInput {
  readonly dialect?: DialectName | undefined
  readonly lease?: Duration | undefined
  /** An interval, or `false`: then the lease must outlast the attempt. */
  readonly heartbeat?: Duration | false | undefined
  readonly missedHeartbeats?: number | undefined
  readonly timeout?: Duration | undefined
  readonly deadline?: Duration | undefined
  readonly startWithin?: Duration | undefined
  readonly parkAfter?: Duration | undefined
  readonly cancelGrace?: Duration | undefined
  readonly compensateWithin?: Duration | undefined
  readonly retry?:
    | (CurveInput & {
        readonly attempts?: number | undefined
        readonly stalls?: number | undefined
        readonly budget?: 'separate' | 'shared' | undefined
        readonly throttled?: CurveInput | undefined
      })
    | undefined
  readonly errors?: Readonly<Record<string, ErrorClass>> | undefined
  readonly onExhausted?: 'failed' | 'dead_letter' | undefined
  readonly onInvalid?: 'failed' | 'dead_letter' | undefined
  readonly onTimeout?: 'fail' | 'timed_out' | undefined
  readonly onStall?: 'requeue' | 'retry' | 'timed_out' | undefined
  readonly onNotStarted?: 'stalled' | 'timed_out' | undefined
  readonly onWaitTimeout?: 'resume' | 'timed_out' | undefined
  readonly admission?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly dedupeFor?: 'live' | 'forever' | Duration | undefined
}

export type Resolved =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly violations: readonly Violation[] }

export function resolvePolicy(input: PolicyInput): Resolved {
  const v: Violation[] = []
  if (!isFields(input)) return { ok: false, violations: [{ field: 'policy', rule: 'must be an object' }] }
  const dialect = oneOf(v, 'dialect', input.dialect, DIALECT_NAMES)
  const base: Policy = dialect === undefined ? DEFAULTS : { ...DEFAULTS, ...PRESETS[dialect], dialect }
  const retry = part(v, 'retry', input.retry, [...CURVE_WORDS, 'attempts', 'stalls', 'budget', 'throttled'])
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
    dedupe: dedupe(v, input.dedupeFor) ?? base.dedupe,
  }
  v.push(...disagreements(policy))
  return v.length === 0 ? { ok: true, policy } : { ok: false, violations: v }
}

/** Rules between fields, and what strict 000 demands of leases. */
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
  return v
}

const CURVE_WORDS = ['base', 'factor', 'max', 'jitter']

/** A part with words of its own. What it does not know is a typing mistake, and a default in its place would be silent. */
function part<T extends object>(
  v: Violation[],
  field: string,
  value: T | undefined,
  words: readonly string[],
): Partial<T> {
  if (value === undefined) return {}
  if (!isFields(value)) {
    v.push({ field, rule: 'must be an object' })
    return {}
  }
  for (const name of Object.keys(value)) {
    if (!words.includes(name))
      v.push({ field: `${field}.${name.slice(0, 40)}`, rule: `must be one of ${words.join(', ')}` })
  }
  return value
}

function duration(
  v: Violation[],
  field: string,
  value: Duration | undefined,
  bound: { min: number; max: number },
): number | undefined {
  if (value === undefined) return undefined
  const ms = parseDuration(value)
  if (ms === undefined) v.push({ field, rule: DURATION_RULE })
  else if (ms < bound.min || ms > bound.max)
    v.push({ field, rule: `must be between ${bound.min} ms and ${bound.max} ms` })
  return ms === undefined ? undefined : Math.round(ms)
}

function count(
  v: Violation[],
  field: string,
  value: number | undefined,
  bound: { min: number; max: number },
): number | undefined {
  if (value === undefined) return undefined
  if (!Number.isInteger(value) || value < bound.min || value > bound.max) {
    v.push({ field, rule: `must be a whole number from ${bound.min} to ${bound.max}` })
  }
  return value
}

function factor(v: Violation[], field: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !(value >= COUNTS.factor.min && value <= COUNTS.factor.max)) {
    v.push({ field, rule: `must be a number from ${COUNTS.factor.min} to ${COUNTS.factor.max}` })
  }
  return value
}

function oneOf<T extends string>(
  v: Violation[],
  field: string,
  value: T | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value !== undefined && !allowed.includes(value)) v.push({ field, rule: `must be one of ${allowed.join(', ')}` })
  return value !== undefined && allowed.includes(value) ? value : undefined
}

/** `dead_letter` is what people say, `dead_lettered` what becomes of the job. */
function ending(
  v: Violation[],
  field: string,
  value: 'failed' | 'dead_letter' | undefined,
): 'failed' | 'dead_lettered' | undefined {
  const said = oneOf(v, field, value, ['failed', 'dead_letter'])
  return said === 'dead_letter' ? 'dead_lettered' : said
}

function flag(v: Violation[], field: string, value: boolean | undefined): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') v.push({ field, rule: 'must be true or false' })
  return value
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

function dedupe(v: Violation[], value: 'live' | 'forever' | Duration | undefined): Policy['dedupe'] | undefined {
  return value === 'live' || value === 'forever' ? value : duration(v, 'dedupeFor', value, DURATIONS.dedupe)
}

const isFields = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
