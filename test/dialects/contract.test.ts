import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACTIONS, type Action, type ContractStatus, STATUSES } from '../../src/core/contract/rules.ts'
import { type ContractViolation, validateJob } from '../../src/core/contract/validate-job.ts'
import { validateTransition } from '../../src/core/contract/validate-transition.ts'

type Fields = Readonly<Record<string, unknown>>

const OWNER = { worker_id: 'w1', runtime: 'node' }
const LEASE = { expires_at: '2026-01-01T00:05:00.000Z' }
const PARTS: Readonly<Record<string, unknown>> = {
  owner: OWNER,
  lease: LEASE,
  result: { ok: true },
  error: { message: 'no' },
}

/** What the document demands, transcribed: present, absent, or SHOULD be cleared. */
const DEMANDS: Readonly<Record<ContractStatus, Readonly<Record<string, 'present' | 'absent' | 'cleared'>>>> = {
  queued: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' },
  claimed: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' },
  running: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' },
  succeeded: { result: 'present', error: 'absent', owner: 'cleared', lease: 'cleared' },
  failed: { error: 'present', result: 'absent', owner: 'cleared', lease: 'cleared' },
  stalled: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' },
}

/** A record that keeps every rule of its status. */
function job(status: ContractStatus, changes: Fields = {}): Fields {
  const demanded = Object.entries(DEMANDS[status]).filter(([, demand]) => demand === 'present')
  const parts = Object.fromEntries(demanded.map(([field]) => [field, PARTS[field]]))
  const attempt = status === 'queued' ? 0 : 1
  return { job_id: 'j1', contract_version: 1, dedupe_key: 'plan:1|it:1', status, attempt, rev: 3, ...parts, ...changes }
}

const without = (record: Fields, field: string): Fields =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== field))

const fieldsOf = (violations: readonly ContractViolation[]) => violations.map(({ field }) => field)

describe('validateJob', () => {
  it.each(STATUSES.map((status) => [status] as const))('accepts a %s record as the document wants it', (status) => {
    expect(validateJob(job(status))).toEqual([])
    expect(validateJob({ ...job(status), something: 'unknown' })).toEqual([])
  })

  const CELLS = STATUSES.flatMap((status) =>
    Object.entries(DEMANDS[status]).map(([field, demand]) => [status, field, demand] as const),
  )
  it.each(CELLS)('%s: %s is %s', (status, field, demand) => {
    const has = { ...job(status), [field]: PARTS[field] }
    const lacks = without(job(status), field)
    const violation = (level: string) => [expect.objectContaining({ field, level })]
    expect(validateJob(has)).toEqual(demand === 'present' ? [] : violation(demand === 'absent' ? 'MUST' : 'SHOULD'))
    expect(validateJob(lacks)).toEqual(demand === 'present' ? violation('MUST') : [])
  })

  it.each([
    ['job_id', ''],
    ['job_id', undefined],
    ['contract_version', 2],
    ['dedupe_key', ''],
    ['dedupe_key', 7],
    ['attempt', -1],
    ['attempt', 1.5],
    ['attempt', Number.NaN],
    ['rev', '3'],
    ['rev', undefined],
    ['status', 'cancelled'],
    ['status', '__proto__'],
    ['events', {}],
  ])('names %s when it is %j', (field, value) => {
    expect(fieldsOf(validateJob(job('queued', { [field]: value })))).toEqual([field])
  })

  it.each([
    ['claimed', 'owner', {}, 'owner.worker_id'],
    ['claimed', 'owner', 'w1', 'owner.worker_id'],
    ['claimed', 'lease', { expires_at: 'soon' }, 'lease.expires_at'],
    ['claimed', 'lease', { expires_at: '2026-99-99T00:00:00Z' }, 'lease.expires_at'],
    ['claimed', 'lease', null, 'lease.expires_at'],
    ['running', 'lease', { ...LEASE, renewed_at: 5 }, 'lease.renewed_at'],
    ['failed', 'error', { code: 'x' }, 'error.message'],
    ['failed', 'error', 'no', 'error.message'],
  ] as const)('%s: looks into %s: %j breaks %s', (status, field, value, broken) => {
    expect(fieldsOf(validateJob(job(status, { [field]: value })))).toEqual([broken])
  })

  it('accepts a lease that was renewed', () => {
    expect(validateJob(job('running', { lease: { ...LEASE, renewed_at: '2026-01-01T00:01:00Z' } }))).toEqual([])
  })

  it.each(['claimed', 'running', 'stalled', 'succeeded'] as const)(
    'a %s job has been claimed at least once',
    (status) => {
      expect(fieldsOf(validateJob(job(status, { attempt: 0 })))).toEqual(['attempt'])
    },
  )

  it('returns every violation, not only the first', () => {
    const broken = { status: 'running', attempt: -1, rev: 'x', result: 1 }
    expect(fieldsOf(validateJob(broken)).sort()).toEqual(['attempt', 'job_id', 'lease', 'owner', 'result', 'rev'])
  })

  it('never throws, whatever it is given', () => {
    for (const value of [undefined, null, 7, 'x', [], () => 1]) expect(fieldsOf(validateJob(value))).toEqual(['job'])
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(validateJob(value))))
  })
})

/** The authoritative transitions, transcribed. */
const LEGAL: Readonly<Record<Action, readonly string[]>> = {
  enqueue: ['none>queued'],
  claimNext: ['queued>claimed', 'stalled>claimed'],
  start: ['claimed>running'],
  heartbeat: ['claimed>claimed', 'running>running'],
  complete: ['running>succeeded'],
  fail: ['running>failed'],
  stall: ['claimed>stalled', 'running>stalled'],
  requeueStalled: ['stalled>queued'],
}

const OWNER_ONLY: readonly Action[] = ['start', 'heartbeat', 'complete', 'fail']

/** A step as this action makes it, whether or not it may. */
function step(action: Action, from: ContractStatus | 'none', to: ContractStatus) {
  const before = from === 'none' ? undefined : job(from, { attempt: 1 })
  const attempt = action === 'enqueue' ? 0 : action === 'claimNext' ? 2 : 1
  const after = job(to, { attempt, rev: 4 })
  const transition = { action, request_id: 'r1', actor: 'w1', cas: { expected_rev: 3 } }
  return { before, transition, after }
}

describe('validateTransition', () => {
  const CELLS = ACTIONS.flatMap((action) =>
    (['none', ...STATUSES] as const).flatMap((from) =>
      STATUSES.map((to) => [action, from, to, LEGAL[action].includes(`${from}>${to}`) ? 'legal' : 'illegal'] as const),
    ),
  )

  it.each(CELLS)('%s: %s → %s is %s', (action, from, to, verdict) => {
    const { before, transition, after } = step(action, from, to)
    const violations = validateTransition(before, transition, after)
    if (verdict === 'legal') expect(violations).toEqual([])
    else expect(fieldsOf(violations)).toContain('after.status')
  })

  it.each(['succeeded', 'failed'] as const)('%s records are immutable, and it says so', (status) => {
    const { before, transition, after } = step('requeueStalled', status, 'queued')
    const [violation] = validateTransition(before, transition, after).filter(({ field }) => field === 'after.status')
    expect(violation?.rule).toContain('immutable')
  })

  it.each(ACTIONS.filter((action) => action !== 'enqueue').map((action) => [action] as const))(
    '%s needs a request id and a revision to compare with',
    (action) => {
      const [from, to] = (LEGAL[action][0] as string).split('>') as [ContractStatus, ContractStatus]
      const { before, after } = step(action, from, to)
      const bare = validateTransition(before, { action, actor: 'w1' }, after)
      expect(fieldsOf(bare)).toEqual(['request_id', 'cas.expected_rev'])
      const stale = validateTransition(
        before,
        { action, actor: 'w1', request_id: 'r', cas: { expected_rev: 2 } },
        after,
      )
      expect(fieldsOf(stale)).toEqual(['cas.expected_rev'])
    },
  )

  it.each(ACTIONS.map((action) => [action, OWNER_ONLY.includes(action)] as const))(
    '%s is for the owner only: %s',
    (action, ownerOnly) => {
      const [from, to] = (LEGAL[action][0] as string).split('>') as [ContractStatus | 'none', ContractStatus]
      const { before, transition, after } = step(action, from, to)
      const other = validateTransition(before, { ...transition, actor: 'w2' }, after)
      expect(fieldsOf(other)).toEqual(ownerOnly ? ['actor'] : [])
    },
  )

  it('a job without an owner has nobody who may complete it', () => {
    const { transition, after } = step('complete', 'running', 'succeeded')
    const { actor: _, ...anonymous } = transition
    expect(fieldsOf(validateTransition(without(job('running'), 'owner'), anonymous, after))).toContain('actor')
  })

  it('compares status and owner where it is asked to', () => {
    const { before, transition, after } = step('start', 'claimed', 'running')
    const asked = (cas: Fields) =>
      fieldsOf(validateTransition(before, { ...transition, cas: { expected_rev: 3, ...cas } }, after))
    expect(asked({ expected_status: 'claimed', expected_owner: 'w1' })).toEqual([])
    expect(asked({ expected_status: 'queued' })).toEqual(['cas.expected_status'])
    expect(asked({ expected_owner: 'w2' })).toEqual(['cas.expected_owner'])
  })

  it.each([
    ['enqueue', 'none', 'queued', 1],
    ['claimNext', 'queued', 'claimed', 1],
    ['claimNext', 'stalled', 'claimed', 3],
    ['start', 'claimed', 'running', 2],
    ['heartbeat', 'running', 'running', 2],
    ['complete', 'running', 'succeeded', 2],
    ['fail', 'running', 'failed', 0],
    ['stall', 'running', 'stalled', 2],
    ['requeueStalled', 'stalled', 'queued', 0],
  ] as const)('%s %s → %s may not lead to attempt %i', (action, from, to, attempt) => {
    const { before, transition, after } = step(action, from, to)
    expect(fieldsOf(validateTransition(before, transition, { ...after, attempt }))).toContain('after.attempt')
  })

  it.each([3, 2])('rev must grow: not to %i', (rev) => {
    const { before, transition, after } = step('heartbeat', 'running', 'running')
    expect(fieldsOf(validateTransition(before, transition, { ...after, rev }))).toEqual(['after.rev'])
  })

  it('keeps the identity of the job, the owner, and what the lease has promised', () => {
    const { before, transition, after } = step('heartbeat', 'running', 'running')
    const to = (changes: Fields) => fieldsOf(validateTransition(before, transition, { ...after, ...changes }))
    expect(to({ job_id: 'j2' })).toEqual(['after.job_id'])
    expect(to({ dedupe_key: 'k2' })).toEqual(['after.dedupe_key'])
    expect(to({ owner: { worker_id: 'w2' } })).toEqual(['after.owner'])
    expect(to({ lease: { expires_at: '2026-01-01T00:04:00Z' } })).toEqual(['after.lease.expires_at'])
    expect(to({ lease: { expires_at: '2026-01-01T00:06:00Z' } })).toEqual([])
  })

  it('returns every violation at once, of both records and of the step', () => {
    const found = validateTransition(
      { ...job('queued'), owner: OWNER },
      { action: 'claimNext' },
      job('running', { rev: 1 }),
    )
    expect(fieldsOf(found)).toEqual(['before.owner', 'request_id', 'cas.expected_rev', 'after.status', 'after.rev'])
  })

  it('judges what it can where a record is broken', () => {
    const { before, transition, after } = step('start', 'claimed', 'running')
    expect(fieldsOf(validateTransition(before, transition, 'gone'))).toContain('after.job')
    const odd = { ...before, status: 'lost' }
    expect(fieldsOf(validateTransition(odd, transition, after))).toEqual(['before.status'])
    expect(fieldsOf(validateTransition(before, transition, { ...after, status: 'lost' }))).toEqual(['after.status'])
  })

  it('never throws, whatever it is given', () => {
    expect(fieldsOf(validateTransition(7, JSON.parse('"x"'), null))).toEqual(['before.job', 'after.job', 'transition'])
    expect(fieldsOf(validateTransition(job('queued'), { action: 'cancel' }, job('queued')))).toEqual(['action'])
    const known = fc.record({
      action: fc.constantFrom(...ACTIONS),
      idempotent_retry: fc.boolean(),
      cas: fc.jsonValue(),
    })
    const any = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom('status', 'attempt', 'rev', 'owner', 'lease', 'events'), fc.jsonValue()),
    )
    fc.assert(
      fc.property(any, known, any, (before, transition, after) => {
        expect(Array.isArray(validateTransition(before, transition, after))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('validateTransition of a repetition', () => {
  const repeat = (action: Action, before: Fields | undefined, after: Fields | undefined = before) =>
    fieldsOf(
      validateTransition(
        before,
        { action, request_id: 'r1', actor: 'w1', cas: { expected_rev: 1 }, idempotent_retry: true },
        after,
      ),
    )

  it.each([
    ['complete', 'succeeded'],
    ['fail', 'failed'],
    ['claimNext', 'claimed'],
    ['start', 'running'],
    ['stall', 'stalled'],
    ['requeueStalled', 'queued'],
  ] as const)('of %s finds the job %s and changes nothing', (action, status) => {
    expect(repeat(action, job(status))).toEqual([])
    expect(repeat(action, job(status), job(status, { rev: 4 }))).toEqual(['after.rev'])
    expect(repeat(action, job(status), job(status, { attempt: 9 }))).toEqual(['after.attempt'])
  })

  it('is none where the record does not show what was asked for', () => {
    expect(repeat('complete', job('failed'))).toEqual(['before.status'])
    expect(repeat('complete', undefined, job('succeeded'))).toEqual(['before'])
  })
})

describe('validateTransition with the audit log', () => {
  const enqueued = { type: 'enqueued', to_status: 'queued', at: '2026-01-01T00:00:00Z', actor: 'p' }
  const claimed = {
    type: 'claimed',
    from_status: 'queued',
    to_status: 'claimed',
    at: '2026-01-01T00:00:01Z',
    actor: 'w1',
  }
  const claim = (events: unknown, old: unknown = [enqueued]) => {
    const before = job('queued', { events: old })
    const after = job('claimed', { rev: 4, events })
    return fieldsOf(
      validateTransition(before, { action: 'claimNext', request_id: 'r', cas: { expected_rev: 3 } }, after),
    )
  }

  it('gets one event for each transition', () => {
    expect(claim([enqueued, claimed])).toEqual([])
    expect(claim([claimed], undefined)).toEqual(['after.events'])
    const created = job('queued', { events: [enqueued] })
    expect(validateTransition(undefined, { action: 'enqueue' }, created)).toEqual([])
  })

  it('is append-only', () => {
    expect(claim([enqueued])).toEqual(['after.events'])
    expect(claim([enqueued, claimed, claimed])).toEqual(['after.events'])
    expect(claim([{ ...enqueued, actor: 'x' }, claimed])).toEqual(['after.events'])
    expect(claim([claimed], 'none')).toEqual(['before.events'])
  })

  it('says what happened', () => {
    expect(claim([enqueued, { ...claimed, from_status: 'stalled' }])).toEqual(['after.events.from_status'])
    expect(claim([enqueued, { ...claimed, to_status: 'running' }])).toEqual(['after.events.to_status'])
    expect(claim([enqueued, { ...claimed, at: 'now', actor: '' }])).toEqual(['after.events.at', 'after.events.actor'])
    expect(claim([enqueued, { ...claimed, type: 'taken' }])).toEqual(['after.events.type'])
    expect(claim([enqueued, 7])).toHaveLength(5)
  })

  it('may hold what is no JSON', () => {
    const round: Record<string, unknown> = {}
    round['self'] = round
    expect(claim([round, claimed], [round])).toEqual([])
    expect(claim([enqueued, claimed], [1n])).toEqual(['after.events'])
  })
})
