/** What a record of document 001 breaks of its contract: every violation, never only the first; nothing throws. */
import { type ContractStatus, FIELD_RULES, RULED_FIELDS, STATUSES } from './rules.ts'

export interface ContractViolation {
  readonly field: string
  readonly rule: string
  /** The document's own word. */
  readonly level: 'MUST' | 'SHOULD'
}

export function validateJob(record: unknown): readonly ContractViolation[] {
  if (!isFields(record)) return [must('job', 'must be an object')]
  const found: ContractViolation[] = [...shape(record)]
  const { status } = record
  if (!isStatus(status)) return [...found, must('status', `must be one of ${STATUSES.join(', ')}`)]
  for (const field of RULED_FIELDS) {
    const demand = FIELD_RULES[status][field]
    const has = record[field] !== undefined
    if (demand === 'present' && !has) found.push(must(field, `must be present while ${status}`))
    if (demand === 'absent' && has) found.push(must(field, `must be absent while ${status}`))
    if (demand === 'cleared' && has) {
      found.push({ field, rule: `should be cleared by the terminal write to ${status}`, level: 'SHOULD' })
    }
  }
  if (CLAIMED.has(status) && record['attempt'] === 0) {
    found.push(must('attempt', `counts claims, and a ${status} job has been claimed`))
  }
  return found
}

const CLAIMED: ReadonlySet<ContractStatus> = new Set(['claimed', 'running', 'stalled', 'succeeded'])

/** What must hold in every status. Unknown fields are ignored. */
function shape(record: Fields): readonly ContractViolation[] {
  const found: ContractViolation[] = []
  const { job_id, contract_version, dedupe_key, attempt, rev, owner, lease, error, events } = record
  if (!isText(job_id)) found.push(must('job_id', 'must be text'))
  if (contract_version !== undefined && contract_version !== 1) found.push(must('contract_version', 'must be 1'))
  if (dedupe_key !== undefined && !isText(dedupe_key)) found.push(must('dedupe_key', 'must be text, and is opaque'))
  if (!isCount(attempt)) found.push(must('attempt', 'must be a whole number, 0 or more'))
  if (!isCount(rev)) found.push(must('rev', 'must be a whole number, 0 or more'))
  if (owner !== undefined && (!isFields(owner) || !isText(owner['worker_id'])))
    found.push(must('owner.worker_id', 'must be text'))
  if (lease !== undefined && (!isFields(lease) || !isTime(lease['expires_at'])))
    found.push(must('lease.expires_at', 'must be an ISO 8601 time'))
  if (isFields(lease) && lease['renewed_at'] !== undefined && !isTime(lease['renewed_at']))
    found.push(must('lease.renewed_at', 'must be an ISO 8601 time'))
  if (error !== undefined && (!isFields(error) || typeof error['message'] !== 'string'))
    found.push(must('error.message', 'must be text'))
  if (events !== undefined && !Array.isArray(events)) found.push(must('events', 'must be a list'))
  return found
}

export type Fields = Readonly<Record<string, unknown>>

export const must = (field: string, rule: string): ContractViolation => ({ field, rule, level: 'MUST' })
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
export const isStatus = (value: unknown): value is ContractStatus => STATUSES.some((status) => status === value)
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
