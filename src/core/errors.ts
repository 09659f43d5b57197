/**
 * Error codes and what they mean for a job. Data: a job type adds to it or overrides it, nobody edits code. The
 * default table is seed 004's.
 */
import type { Fault } from './command.ts'
import type { ErrorClass, Policy } from './policy.ts'

export const DEFAULT_ERRORS: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['network_error', 'transient'],
  ['rate_limited', 'transient'],
  ['browser_crash', 'transient'],
  ['timeout_soft', 'transient'],
  ['qdrant_unavailable', 'transient'],
  ['neo4j_write_lock', 'transient'],
  ['invalid_url', 'permanent'],
  ['robots_disallowed', 'permanent'],
  ['parse_error_strict', 'permanent'],
  ['unsupported_mime', 'permanent'],
  ['bad_request', 'permanent'],
  ['captcha', 'throttled'],
  ['403_waf', 'throttled'],
  ['503_shield', 'throttled'],
  ['E_URL_BAD', 'permanent'],
  ['E_ROBOTS', 'permanent'],
  ['E_PARSE', 'permanent'],
  ['E_403_WAF', 'throttled'],
  ['E_429_RATE', 'transient'],
  ['E_5XX_ORIGIN', 'transient'],
  ['E_TIMEOUT', 'transient'],
  ['E_BROWSER', 'transient'],
  ['E_QDRANT', 'transient'],
  ['E_NEO4J', 'transient'],
  ['E_GPU_OOM', 'transient'],
  ['E_CRASH', 'transient'],
  ['E_NONDETERMINISTIC', 'permanent'],
  ['E_TWO_WAITS', 'permanent'],
  ['E_CHILD_REFUSED', 'permanent'],
  ['not_json', 'permanent'],
  ['validation_failed', 'validation'],
  ['parse_error', 'validation'],
  ['policy_violation', 'permanent'],
  ['lease_expired', 'lease'],
])

/** Seed 004's suggested codes and the classes of its lists that they stand for. */
export const CODE_MEANS: Readonly<Record<string, string>> = {
  E_URL_BAD: 'invalid_url',
  E_ROBOTS: 'robots_disallowed',
  E_PARSE: 'parse_error_strict',
  E_403_WAF: '403_waf',
  E_429_RATE: 'rate_limited',
  E_5XX_ORIGIN: 'network_error',
  E_TIMEOUT: 'timeout_soft',
  E_BROWSER: 'browser_crash',
  E_QDRANT: 'qdrant_unavailable',
  E_NEO4J: 'neo4j_write_lock',
}

/** Codes that name something outside the job: spent retries are then `dependency_unavailable`. */
export const DEPENDENCY_CODES: ReadonlySet<string> = new Set([
  'dependency_unavailable',
  'qdrant_unavailable',
  'neo4j_write_lock',
  'E_QDRANT',
  'E_NEO4J',
])

/** What an attempt that ran out of time is recorded as; and, where a lost lease is retried, the last that was lost (004). */
export const TIMEOUT_CODE = 'E_TIMEOUT'

/** Missed heartbeats, where a lost lease is retried like an error, as long as it is (004). */
export const SOFT_TIMEOUT_CODE = 'timeout_soft'

/** A lost lease everywhere else. */
export const LEASE_CODE = 'lease_expired'

/** What an attempt is recorded as whose process died, where nobody but this job can have done it. */
export const CRASH_CODE = 'E_CRASH'

/** The job type's table, then the error's own word, then the default table; else transient. */
export function classify(policy: Policy, fault: Pick<Fault, 'code' | 'class'>): ErrorClass {
  const own = Object.hasOwn(policy.errors, fault.code) ? policy.errors[fault.code] : undefined
  return own ?? fault.class ?? DEFAULT_ERRORS.get(fault.code) ?? 'transient'
}
