/**
 * The small values records and events are made of, as lists: the position is the name. A place may be added at the
 * end of a list, none may change its meaning.
 */

import type { Approval, Terms } from '../../core/approval.ts'
import { assert } from '../../core/assert.ts'
import type { Newer, Next } from '../../core/brought.ts'
import {
  type BodyRef,
  type CancelRequest,
  DEAD_LETTER_REASONS,
  type DeadLetter,
  type Ending,
  type Failure,
  type JobFlow,
  type LastClaim,
  type Lease,
  type Progress,
  type Receipt,
  type Result,
  STAGES,
  type State,
  type StoredSignal,
  type UnhappyState,
  type Verdict,
  type Wait,
} from '../../core/job.ts'
import { NOTE_KINDS, type Note } from '../../core/note.ts'
import { ERROR_CLASSES } from '../../core/policy.ts'
import { COMMAND_CODES, COMMAND_OF, STATE_CODES, STATE_OF } from './codes.ts'
import { list, maybeNumber, maybeText, number, type Packed, text, texts, trimmed, zero } from './packed.ts'

export function mustKnow<Word>(word: Word | undefined, what: string): Word {
  assert(word !== undefined, `this version knows the ${what}`)
  return word
}

const oneOf = <Word extends string>(known: readonly Word[], packed: Packed): Word =>
  mustKnow(
    known.find((word) => word === packed),
    'word',
  )

export const stateOf = (packed: Packed): State => mustKnow(STATE_OF[text(packed)], 'state')

export const packBody = (body: BodyRef): Packed => trimmed([body.name, body.size, body.digest])

export function unpackBody(packed: Packed): BodyRef {
  const [name, size, digest] = list(packed)
  return { name: text(name), size: number(size), digest: maybeText(digest) }
}

const maybe =
  <Value>(unpack: (packed: Packed) => Value) =>
  (packed: Packed): Value | undefined =>
    packed == null ? undefined : unpack(packed)

export const maybeBody = maybe(unpackBody)

/** A pointer is text, a body a list. */
export const packResult = (result: Result): Packed => (result.body === undefined ? result.ptr : packBody(result.body))

export const unpackResult = (packed: Packed): Result =>
  typeof packed === 'string' ? { ptr: packed } : { body: unpackBody(packed) }

export const packFailure = (f: Failure): Packed =>
  trimmed([f.code, f.class, f.message, f.stage, f.at, f.attempt, f.context, f.body && packBody(f.body), f.worker])

export function unpackFailure(packed: Packed): Failure {
  const [code, errorClass, message, stage, at, attempt, context, body, worker] = list(packed)
  return {
    code: text(code),
    class: oneOf(ERROR_CLASSES, errorClass),
    message: text(message),
    stage: oneOf(STAGES, stage),
    context: context == null ? undefined : texts(context),
    at: number(at),
    attempt: number(attempt),
    worker: maybeText(worker),
    body: maybeBody(body),
  }
}

export const maybeFailure = maybe(unpackFailure)

export const packNote = ({ kind, name }: Note): Packed => [kind, name]

export const maybeNote = maybe((packed: Packed): Note => {
  const [kind, name] = list(packed)
  return { kind: oneOf(NOTE_KINDS, kind), name: text(name) }
})

export const packDeadLetter = (d: DeadLetter): Packed => [
  d.reason,
  d.stage,
  packFailure(d.lastError),
  d.attempts,
  d.lastOwner,
  d.lastLeaseExpiresAt,
  d.correlationId,
]

export function unpackDeadLetter(packed: Packed): DeadLetter {
  const [reason, stage, lastError, attempts, lastOwner, lastLeaseExpiresAt, correlationId] = list(packed)
  return {
    reason: oneOf(DEAD_LETTER_REASONS, reason),
    stage: oneOf(STAGES, stage),
    lastError: unpackFailure(lastError),
    attempts: number(attempts),
    lastOwner: maybeText(lastOwner) ?? null,
    lastLeaseExpiresAt: maybeNumber(lastLeaseExpiresAt) ?? null,
    correlationId: text(correlationId),
  }
}

export const packVerdict = (v: Verdict): Packed => trimmed([v.rule, v.policyHash, v.reason])

export function unpackVerdict(packed: Packed): Verdict {
  const [rule, policyHash, reason] = list(packed)
  return { rule: text(rule), policyHash: text(policyHash), reason: maybeText(reason) }
}

export const packTerms = (t: Terms): Packed => trimmed([t.attemptMs, t.maxAttempts])

function unpackTerms(packed: Packed): Terms {
  const [attemptMs, maxAttempts] = list(packed)
  return { attemptMs: maybeNumber(attemptMs), maxAttempts: maybeNumber(maxAttempts) }
}

export const packApproval = (a: Approval): readonly Packed[] =>
  trimmed([
    a.rule,
    a.policyHash,
    a.jobHash,
    a.expiresAt,
    a.notBy,
    a.reason,
    a.given && trimmed([a.given.by, a.given.at, a.given.reason]),
  ])

export function unpackApproval(packed: readonly Packed[]): Approval {
  const [rule, policyHash, jobHash, expiresAt, notBy, reason, given] = packed
  return {
    rule: text(rule),
    policyHash: text(policyHash),
    jobHash: text(jobHash),
    expiresAt: number(expiresAt),
    notBy: maybeText(notBy),
    reason: maybeText(reason),
    given: given == null ? undefined : unpackGiven(list(given)),
  }
}

const unpackGiven = ([by, at, reason]: readonly Packed[]): NonNullable<Approval['given']> => ({
  by: text(by),
  at: number(at),
  reason: maybeText(reason),
})

export const packEnding = (e: Ending): Packed =>
  trimmed([
    STATE_CODES[e.state],
    e.reason,
    e.error && packFailure(e.error),
    e.deadLetter,
    e.cancel && packCancel(e.cancel),
  ])

export function unpackEnding(packed: Packed): Ending {
  const [state, reason, error, deadLetter, cancel] = list(packed)
  return {
    state: stateOf(state) as UnhappyState,
    reason: text(reason),
    error: maybeFailure(error),
    deadLetter: deadLetter == null ? undefined : oneOf(DEAD_LETTER_REASONS, deadLetter),
    cancel: cancel == null ? undefined : unpackCancel(cancel),
  }
}

export const packCancel = (c: CancelRequest): Packed =>
  trimmed([
    c.mode === 'hard' ? 1 : 0,
    c.by,
    c.requestedAt,
    c.deliveredAt,
    c.acknowledgedAt,
    c.reason,
    c.dropsNext === true ? 1 : undefined,
  ])

export function unpackCancel(packed: Packed): CancelRequest {
  const [mode, by, requestedAt, deliveredAt, acknowledgedAt, reason, dropsNext] = list(packed)
  return {
    mode: mode === 1 ? 'hard' : 'soft',
    reason: maybeText(reason),
    by: text(by),
    requestedAt: number(requestedAt),
    deliveredAt: maybeNumber(deliveredAt),
    acknowledgedAt: maybeNumber(acknowledgedAt),
    ...(dropsNext === 1 && { dropsNext: true as const }),
  }
}

export const packFlow = ({ keys, fair }: JobFlow): Packed => [fair ?? null, ...keys]

export function unpackFlow(packed: Packed): JobFlow {
  const [fair, ...keys] = list(packed)
  return { keys: keys.map(text), fair: maybeText(fair) }
}

export const packNewer = ({ input, next, rev, by }: Newer): Packed =>
  trimmed([input && packBody(input), next && packNext(next), rev, by])

const packNext = ({ since, runAt, input, flow, by }: Next): Packed =>
  trimmed([since, runAt, input && packBody(input), flow && packFlow(flow), by])

export function unpackNewer(packed: Packed): Newer {
  const [input, next, rev, by] = list(packed)
  return {
    input: maybeBody(input),
    next: next == null ? undefined : unpackNext(next),
    ...(rev != null && { rev: number(rev) }),
    ...(by != null && { by: text(by) }),
  }
}

function unpackNext(packed: Packed): Next {
  const [since, runAt, body, flow, by] = list(packed)
  return {
    input: maybeBody(body),
    runAt: maybeNumber(runAt),
    since: number(since),
    flow: flow == null ? undefined : unpackFlow(flow),
    ...(by != null && { by: text(by) }),
  }
}

export const packWait = (w: Wait): Packed =>
  trimmed([w.name, w.since, w.memo, w.onTimeout === 'timed_out' ? 1 : 0, w.timeoutAt, w.key])

export function unpackWait(packed: Packed): Wait {
  const [name, since, memo, onTimeout, timeoutAt, key] = list(packed)
  return {
    name: text(name),
    key: maybeText(key),
    since: number(since),
    timeoutAt: maybeNumber(timeoutAt),
    onTimeout: onTimeout === 1 ? 'timed_out' : 'resume',
    memo: text(memo),
  }
}

export const packSignal = (s: StoredSignal): Packed =>
  trimmed([s.n, s.name, s.requestId, s.at, s.key, s.body && packBody(s.body)])

export function unpackSignal(packed: Packed): StoredSignal {
  const [n, name, requestId, at, key, body] = list(packed)
  return {
    n: number(n),
    name: text(name),
    key: maybeText(key),
    requestId: text(requestId),
    at: number(at),
    body: maybeBody(body),
  }
}

export const packProgress = (p: Progress): Packed =>
  trimmed([zero(p.done), p.total === undefined ? undefined : zero(p.total), p.message, p.etaAt])

export function unpackProgress(packed: Packed): Progress {
  const [done, total, message, etaAt] = list(packed)
  return { done: number(done), total: maybeNumber(total), message: maybeText(message), etaAt: maybeNumber(etaAt) }
}

export const maybeProgress = maybe(unpackProgress)
export const maybeTerms = maybe(unpackTerms)

export const packReceipt = (r: Receipt): Packed => [
  r.requestId,
  COMMAND_CODES[r.command],
  r.digest,
  r.rev,
  STATE_CODES[r.state],
  r.at,
]

export function unpackReceipt(packed: Packed): Receipt {
  const [requestId, command, digest, rev, state, at] = list(packed)
  return {
    requestId: text(requestId),
    command: mustKnow(COMMAND_OF[text(command)], 'command'),
    digest: text(digest),
    rev: number(rev),
    state: stateOf(state),
    at: number(at),
  }
}

export const packLease = (l: Lease): Packed => trimmed([l.fence, l.grantedAt, l.expiresAt, l.beats, l.lastBeatId])

export function unpackLease(packed: Packed): Lease {
  const [fence, grantedAt, expiresAt, beats, lastBeatId] = list(packed)
  return {
    fence: text(fence),
    grantedAt: number(grantedAt),
    expiresAt: number(expiresAt),
    beats: number(beats),
    lastBeatId: maybeText(lastBeatId),
  }
}

export const packLastClaim = (c: LastClaim): Packed =>
  trimmed([
    c.owner.workerId,
    c.fence,
    c.leaseExpiresAt,
    c.silences === 0 ? undefined : c.silences,
    c.ran ? 1 : undefined,
  ])

export function unpackLastClaim(packed: Packed): LastClaim {
  const [workerId, fence, leaseExpiresAt, silences, ran] = list(packed)
  return {
    owner: { workerId: text(workerId) },
    fence: text(fence),
    leaseExpiresAt: number(leaseExpiresAt),
    silences: silences === 1 ? 1 : silences === 2 ? 2 : 0,
    ran: ran === 1,
  }
}
