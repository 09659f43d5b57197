/**
 * Whether one operation of document 001 may turn one record into another: the operation itself, the transition, the
 * compare-and-swap, the owner, attempt and rev, the audit log. Every violation; nothing throws.
 */
import { ACTION_RULES, ACTIONS, type Action, type ActionRule, type ContractStatus } from './rules.ts'
import {
  type ContractViolation,
  type Fields,
  isCount,
  isFields,
  isStatus,
  isText,
  isTime,
  must,
  validateJob,
} from './validate-job.ts'

/** `before` is undefined where the operation creates the record. The transition is JSON, so it is not trusted. */
export interface Transition {
  readonly action: Action
  readonly request_id?: string
  /** The worker that speaks, for what only the owner may do. */
  readonly actor?: string
  readonly cas?: { readonly expected_rev: number; readonly expected_status?: string; readonly expected_owner?: string }
  /** A repetition of what was applied before, answered with the record as it is. */
  readonly idempotent_retry?: boolean
}

export function validateTransition(
  before: unknown,
  transition: Transition | Fields,
  after: unknown,
): readonly ContractViolation[] {
  const asked: unknown = transition
  const found: ContractViolation[] = [
    ...(before === undefined ? [] : within('before', validateJob(before))),
    ...within('after', validateJob(after)),
  ]
  if (!isFields(asked)) return [...found, must('transition', 'must be an object')]
  const action = ACTIONS.find((name) => name === asked['action'])
  if (action === undefined) return [...found, must('action', `must be one of ${ACTIONS.join(', ')}`)]
  const rule = ACTION_RULES[action]
  const was = isFields(before) ? before : undefined
  const is = isFields(after) ? after : {}
  found.push(...request(action, rule, asked, was))
  found.push(...(asked['idempotent_retry'] === true ? repeated(rule, was, is) : applied(action, rule, was, is)))
  return found
}

const within = (name: string, violations: readonly ContractViolation[]): readonly ContractViolation[] =>
  violations.map((violation) => ({ ...violation, field: `${name}.${violation.field}` }))

/** The words of the operation: who, under which request, against which revision. */
function request(action: Action, rule: ActionRule, asked: Fields, was: Fields | undefined): ContractViolation[] {
  const found: ContractViolation[] = []
  if (action === 'enqueue') return found
  if (!isText(asked['request_id'])) found.push(must('request_id', `must be given: ${action} may be repeated`))
  const cas = isFields(asked['cas']) ? asked['cas'] : {}
  if (!isCount(cas['expected_rev'])) found.push(must('cas.expected_rev', 'must be given with every mutation'))
  // A repetition is judged by its request id: its revision is the one it was first sent with.
  if (asked['idempotent_retry'] === true || was === undefined) return found
  if (isCount(cas['expected_rev']) && cas['expected_rev'] !== was['rev'])
    found.push(must('cas.expected_rev', 'must be the revision of the record'))
  if (cas['expected_status'] !== undefined && cas['expected_status'] !== was['status'])
    found.push(must('cas.expected_status', 'must be the status of the record'))
  const owner = ownerOf(was)
  if (cas['expected_owner'] !== undefined && cas['expected_owner'] !== owner)
    found.push(must('cas.expected_owner', 'must be the owner of the record'))
  if (rule.ownerOnly && (owner === undefined || asked['actor'] !== owner))
    found.push(must('actor', `must be the current owner: only it may ${action}`))
  return found
}

const ownerOf = (record: Fields): unknown => (isFields(record['owner']) ? record['owner']['worker_id'] : undefined)

/** The same request again is a success that changes nothing. */
function repeated(rule: ActionRule, was: Fields | undefined, is: Fields): ContractViolation[] {
  if (was === undefined) return [must('before', 'must be there: nothing was applied that could be repeated')]
  const found = (['job_id', 'status', 'attempt', 'rev'] as const)
    .filter((field) => was[field] !== is[field])
    .map((field) => must(`after.${field}`, 'must not change by a repetition'))
  if (!rule.moves.some(([, to]) => to === was['status']))
    found.push(must('before.status', 'does not show what the repeated operation asked for'))
  return found
}

function applied(action: Action, rule: ActionRule, was: Fields | undefined, is: Fields): ContractViolation[] {
  return [
    ...legality(action, rule, was, is),
    ...numbers(action, rule, was, is),
    ...kept(action, was, is),
    ...audit(rule, was, is),
  ]
}

function legality(action: Action, rule: ActionRule, was: Fields | undefined, is: Fields): ContractViolation[] {
  const from = was === undefined ? 'none' : was['status']
  const to = is['status']
  if (was !== undefined && !isStatus(from)) return []
  if (!isStatus(to) || rule.moves.some((move) => move[0] === from && move[1] === to)) return []
  if (from === 'succeeded' || from === 'failed')
    return [must('after.status', `must stay ${from}: terminal records are immutable`)]
  return [must('after.status', `${action} must not go from ${from as ContractStatus} to ${to}`)]
}

/** `attempt` counts claims and nothing else; `rev` grows with every accepted mutation, heartbeats included. */
function numbers(action: Action, rule: ActionRule, was: Fields | undefined, is: Fields): ContractViolation[] {
  const found: ContractViolation[] = []
  const { attempt, rev } = is
  const base = was?.['attempt']
  if (rule.attempt === 'zero' && attempt !== 0) found.push(must('after.attempt', 'must start at 0'))
  if (rule.attempt === 'plusOne' && isCount(base) && attempt !== base + 1)
    found.push(must('after.attempt', 'must be one more: the job is claimed'))
  if (rule.attempt === 'same' && isCount(base) && attempt !== base)
    found.push(must('after.attempt', `must not change by ${action}`))
  const oldRev = was?.['rev']
  if (isCount(oldRev) && isCount(rev) && rev <= oldRev) found.push(must('after.rev', 'must increase'))
  return found
}

/** What no operation changes, and what an owner keeps. */
function kept(action: Action, was: Fields | undefined, is: Fields): ContractViolation[] {
  if (was === undefined) return []
  const found: ContractViolation[] = []
  if (was['job_id'] !== is['job_id']) found.push(must('after.job_id', 'must not change'))
  if (was['dedupe_key'] !== is['dedupe_key']) found.push(must('after.dedupe_key', 'must not change'))
  if (action === 'start' || action === 'heartbeat') {
    if (ownerOf(was) !== ownerOf(is)) found.push(must('after.owner', `must not change by ${action}`))
  }
  const [old, renewed] = [expiryOf(was), expiryOf(is)]
  if (action === 'heartbeat' && old !== undefined && renewed !== undefined && renewed < old)
    found.push(must('after.lease.expires_at', 'must not shrink by a heartbeat'))
  return found
}

const expiryOf = (record: Fields): number | undefined =>
  isFields(record['lease']) && isTime(record['lease']['expires_at'])
    ? Date.parse(record['lease']['expires_at'])
    : undefined

/** Where records carry their log: append-only, one event more, which says what happened. */
function audit(rule: ActionRule, was: Fields | undefined, is: Fields): ContractViolation[] {
  const events = is['events']
  if (!Array.isArray(events)) return []
  const old: readonly unknown[] = Array.isArray(was?.['events']) ? was['events'] : []
  const log: readonly unknown[] = events
  if (log.length !== old.length + 1 || old.some((event, i) => textOf(event) !== textOf(log[i])))
    return [must('after.events', 'must be the old log and one event more')]
  const last = log[old.length]
  const entry = isFields(last) ? last : {}
  const from = was === undefined ? undefined : was['status']
  const found: ContractViolation[] = []
  if (from !== undefined && entry['from_status'] !== from)
    found.push(must('after.events.from_status', 'must be the status before'))
  if (entry['to_status'] !== is['status']) found.push(must('after.events.to_status', 'must be the status after'))
  if (!isTime(entry['at'])) found.push(must('after.events.at', 'must be an ISO 8601 time'))
  if (!isText(entry['actor'])) found.push(must('after.events.actor', 'must be text'))
  if (entry['type'] !== rule.word)
    found.push({ field: 'after.events.type', rule: `should be ${rule.word}`, level: 'SHOULD' })
  return found
}

/** Undefined for what is no JSON: it cannot be told whether that has changed, and `validateJob` asks for none. */
function textOf(event: unknown): string | undefined {
  try {
    return JSON.stringify(event)
  } catch {
    return undefined
  }
}
