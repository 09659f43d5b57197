/** RFC 9457: what went wrong, why, who owns the job, what to do. Never a stack, a statement or the environment. */
import { REFUSALS, type Refusal, type RefusalCode, type Violation } from '../core/refusal.ts'

/** Objections of the gateway itself, before core is asked. */
export const OBJECTIONS = {
  UNAUTHENTICATED: {
    status: 401,
    title: 'No valid token',
    next: 'Send `Authorization: Bearer <token>` with a token that has not expired or been revoked.',
  },
  FORBIDDEN: { status: 403, title: 'The token may not do this', next: 'Use a token whose scope allows it.' },
  NO_ROUTE: { status: 404, title: 'There is nothing here', next: 'See /openapi.json for everything there is.' },
  METHOD: { status: 405, title: 'Not with this method', next: 'Use one of the methods in the Allow header.' },
  TENANT: {
    status: 400,
    title: 'The tenant comes from the token',
    next: 'Leave the tenant out, or use a token of that tenant.',
  },
  MALFORMED: {
    status: 400,
    title: 'The request cannot be read',
    next: 'Send what /openapi.json describes: JSON in UTF-8, headers and fields within their rules.',
  },
  MEDIA_TYPE: { status: 415, title: 'Not this media type', next: 'Send `Content-Type: application/json`.' },
  TOO_LARGE: { status: 413, title: 'The request is too large', next: 'Keep large data elsewhere and send a pointer.' },
  TOO_SLOW: { status: 408, title: 'The request took too long to arrive', next: 'Send it again.' },
  IN_FLIGHT: {
    status: 409,
    title: 'The same key is being processed',
    next: 'Wait for the first request to be answered.',
  },
  CHANGED: {
    status: 409,
    title: 'It has been changed meanwhile',
    next: 'Look at what is there now, then say which revision you replace.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: 'Not in that form',
    next: 'Ask for `application/json` or `text/event-stream`.',
  },
  CROSS_SITE: {
    status: 403,
    title: 'Not from another site',
    next: 'Call the API from a server, or from a page of the same origin.',
  },
  SHED: { status: 503, title: 'Too much to do', next: 'Try again after the stated time.' },
  RATE: { status: 429, title: 'Too many requests', next: 'Try again after the stated time.' },
  TOO_MANY: {
    status: 429,
    title: 'Too many at a time',
    next: 'Let some of them end, or try again after the stated time.',
  },
  FULL: {
    status: 422,
    title: 'There are as many as there may be',
    next: 'Use those there are, remove what is not needed, or ask the operator for a higher cap (docs/limits.md).',
  },
  UNAVAILABLE: { status: 503, title: 'The store does not answer', next: 'Try again; /readyz tells when it is back.' },
  INTERNAL: { status: 500, title: 'Something went wrong here', next: 'The log has it under this request id.' },
} as const

export type Objection = keyof typeof OBJECTIONS

const STATUS: Readonly<Record<RefusalCode, number>> = {
  INVALID: 400,
  NOT_FOUND: 404,
  ILLEGAL_TRANSITION: 409,
  ENDED: 409,
  STALE_FENCE: 409,
  LEASE_EXPIRED: 409,
  NOT_READY: 409,
  NOT_DUE: 409,
  REV_CONFLICT: 409,
  REV_REQUIRED: 428,
  REQUEST_ID_REUSED: 422,
  ID_TAKEN: 409,
  KEY_REUSED: 422,
  KEY_TAKEN: 409,
  KEY_BUSY: 409,
  INBOX_FULL: 409,
  LIMIT_REACHED: 422,
  NOT_APPROVABLE: 409,
  WRONG_PHASE: 409,
  STRIPPED: 410,
  DIALECT_FORBIDS: 409,
  OTHERS_REFUSED: 409,
  OVERLOADED: 503,
}

export interface Problem {
  readonly status: number
  readonly retryAfterMs: number | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** Thrown by handlers and caught in one place. It has no stack: nobody reads it, and who is flooded throws thousands. */
export class Objected extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(String(problem.body['title']))
    Error.stackTraceLimit = stackTraceLimit
    this.problem = problem
  }
}

export const problemOf = (refusal: Refusal, status = STATUS[refusal.code]): Problem => ({
  status,
  retryAfterMs: refusal.retryAfterMs,
  body: {
    ...base(refusal.code, REFUSALS[refusal.code].title, status, refusal.message, refusal.next),
    jobId: refusal.job,
    state: refusal.state,
    command: refusal.command,
    rev: refusal.rev,
    owner: refusal.owner,
    leaseExpiresAt: refusal.leaseExpiresAt === undefined ? undefined : new Date(refusal.leaseExpiresAt).toISOString(),
    holder: refusal.holder,
    violations: refusal.violations.length === 0 ? undefined : refusal.violations,
  },
})

export function objection(
  code: Objection,
  detail?: string,
  violations?: readonly Violation[],
  retryAfterMs?: number,
): Problem {
  const { status, title, next } = OBJECTIONS[code]
  const todo = violations === undefined || violations.length === 0 ? next : CORRECT
  return { status, retryAfterMs, body: { ...base(code, title, status, detail ?? title, todo), violations } }
}

/** What to do next where `violations` names the places. */
const CORRECT = 'Correct the fields that `violations` names; /openapi.json has the rules of every request.'

export const policyObjection = (violations: readonly Violation[]): Objected =>
  new Objected(
    objection(
      'MALFORMED',
      'The policy breaks a rule.',
      violations.map(({ field, rule }) => ({ field: `policy.${field}`, rule })),
    ),
  )

const base = (code: string, title: string, status: number, detail: string, next: string) => ({
  type: `/docs/errors#${code.toLowerCase()}`,
  title,
  status,
  detail,
  code,
  next,
})

const UNAVAILABLE: ReadonlySet<string> = new Set([
  'Overloaded',
  'SqliteStoreError',
  'RedisStoreError',
  'PostgresUnavailable',
  'PoolUsedUp',
  'PostgresRewound',
])

/** The store or the way to it is down: not the caller's fault, and worth another try. */
export const isUnavailable = (error: unknown): boolean => error instanceof Error && UNAVAILABLE.has(error.name)
