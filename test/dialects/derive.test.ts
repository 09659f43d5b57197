import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveDialect, LOG_RULES } from '../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { DIALECT_NAMES } from '../../src/core/policy.ts'
import { MATRIX_003, TRANSCRIPTS } from './transcripts.ts'

const rulesOf = (derived: ReturnType<typeof deriveDialect>) => derived.violations.map(({ rule }) => rule)

/** The function of 003, §4, as the document describes it: in order, each event about the status sets it. */
function deriveStatusFromEvents(events: readonly string[]): string | undefined {
  const sets: Readonly<Record<string, string>> = {
    job_created: 'StatusPending',
    job_queued: 'StatusPending',
    job_requeued: 'StatusPending',
    job_leased: 'StatusRunning',
    job_running: 'StatusRunning',
    job_waiting: 'StatusWaiting',
    wait_completed: 'StatusPending',
    job_completed: 'StatusCompleted',
    job_failed: 'StatusFailed',
    job_cancelled: 'StatusCancelled',
  }
  let status: string | undefined
  for (const event of events) status = sets[event] ?? status
  return status
}

const OTHERS_003 = ['plan_generated', 'node_started', 'tool_invocation_started', 'tool_invocation_finished']
const streams = fc.array(fc.constantFrom(...MATRIX_003.events, ...OTHERS_003), { maxLength: 12 })

describe('003: DeriveStatusFromEvents', () => {
  it('agrees with the document’s function on any stream, legal or not', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        expect(deriveDialect('003', stream).constant).toBe(deriveStatusFromEvents(stream))
      }),
      { numRuns: 3_000 },
    )
  })

  it('agrees with the table, event by event, on any legal stream', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const { status, violations } = deriveDialect('003', stream)
        let here = 'none'
        let legal = true
        for (const event of stream.filter((name) => !OTHERS_003.includes(name))) {
          const next = TRANSCRIPTS['003'].cells[`${here} ${event}`]
          legal &&= next !== undefined
          here = next ?? here
        }
        expect(violations.every(({ rule }) => rule === 'invariant')).toBe(legal)
        if (legal) expect(status).toBe(here === 'none' ? undefined : here)
      }),
      { numRuns: 3_000 },
    )
  })

  it.each(MATRIX_003.events.map((event) => [event] as const))('after an ending the last wins: %s', (event) => {
    for (const ending of ['job_completed', 'job_failed', 'job_cancelled']) {
      const stream = ['job_created', 'job_running', ending, event]
      const derived = deriveDialect('003', stream)
      expect(derived.constant).toBe(deriveStatusFromEvents(stream))
      expect(rulesOf(derived)).toContain('invariant')
      expect(derived.violations[0]).toMatchObject({ line: 4, what: expect.stringContaining('invariant 1') })
      const cell = ending === 'job_failed' && event === 'job_requeued'
      expect(rulesOf(derived).includes('after_the_end')).toBe(!cell)
    }
  })

  it('invariant 1: the failed job that is requeued is legal in the table and reported all the same', () => {
    const derived = deriveDialect('003', ['job_created', 'job_running', 'job_failed', 'job_requeued'])
    expect(derived).toMatchObject({ status: 'Queued', constant: 'StatusPending' })
    expect(rulesOf(derived)).toEqual(['invariant'])
  })

  it.each([
    ['wait_completed', []],
    ['job_cancelled', []],
    ['job_running', ['2', '4']],
    ['job_leased', ['2', '4']],
    ['job_requeued', ['2', '4']],
    ['job_completed', ['2']],
    ['job_failed', ['2']],
    ['job_created', ['2']],
    ['job_waiting', []],
  ])('invariants 2 and 4: %s while waiting breaks %s', (event, broken) => {
    for (const waiting of [['job_waiting'], ['job_waiting', 'job_parked']]) {
      const { violations } = deriveDialect('003', ['job_created', 'job_running', ...waiting, event])
      const laws = violations.filter(({ rule }) => rule === 'invariant').map(({ what }) => what[10])
      expect(laws).toEqual(broken)
    }
  })

  it('invariants 2 and 3: a waiting job was put there by job_waiting, a running one by job_running or job_leased', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const { status } = deriveDialect('003', stream)
        const last = stream.filter((event) => !OTHERS_003.includes(event)).at(-1)
        if (status === 'Waiting') expect(last).toBe('job_waiting')
        if (status === 'Running') expect(['job_running', 'job_leased']).toContain(last)
        if (status === 'Parked' || status === 'Retrying') throw new Error('nothing leads there')
      }),
      { numRuns: 3_000 },
    )
  })

  it('passes over what is not about the status', () => {
    const log = ['job_created', 'plan_generated', 'job_running', 'tool_invocation_started', 'node_started']
    expect(deriveDialect('003', log)).toMatchObject({ status: 'Running', passedOver: 3, violations: [] })
  })

  it.each([
    [['job_created', 'job_running', 'job_waiting', 'job_parked'], 'StatusParked'],
    [['job_created', 'job_running', 'job_parked'], 'StatusParked'],
    [['job_created', 'job_running', 'job_waiting', 'job_parked', 'wait_completed'], 'StatusPending'],
    [['job_created', 'job_running', 'job_retrying'], 'StatusRetrying'],
    [['job_created', 'job_running', 'job_retrying', 'job_leased'], 'StatusRunning'],
    [['job_created', 'job_running', 'job_retrying', 'job_requeued'], 'StatusPending'],
  ])('accepts the extension it invites: %j', (log, constant) => {
    expect(deriveDialect('003', log)).toMatchObject({ constant, violations: [] })
  })

  it('job_leased followed by job_running is illegal in its table', () => {
    const derived = deriveDialect('003', ['job_created', 'job_leased', 'job_running'])
    expect(derived.constant).toBe('StatusRunning')
    expect(rulesOf(derived)).toEqual(['illegal_move'])
  })

  it('reads entries as well as bare words, under any of the names it uses', () => {
    const log = [{ type: 'job_created' }, { event: 'job_running' }, { Event: 'job_completed', next_state: 'Completed' }]
    expect(deriveDialect('003', log)).toMatchObject({ status: 'Completed', violations: [] })
    const lying = deriveDialect('003', [{ type: 'job_created', next_state: 'Running' }])
    expect(lying).toMatchObject({ status: 'Queued', violations: [{ rule: 'says_otherwise' }] })
  })
})

describe('000: an attempt that is closed', () => {
  const claim = (attempt?: number) => ({
    type: 'job_claimed',
    payload: attempt === undefined ? {} : { attempts: attempt },
  })

  it('may be followed by a claim with a higher attempt', () => {
    const log = [claim(1), { type: 'job_started' }, claim(2), { type: 'job_started' }, { type: 'job_succeeded' }]
    expect(deriveDialect('000A', log)).toMatchObject({ status: 'succeeded', violations: [] })
    const b = ['queued', { state: 'assigned', attempt: 1 }, 'running', 'queued', { state: 'assigned', attempt: 2 }]
    expect(deriveDialect('000B', b)).toMatchObject({ status: 'assigned', violations: [] })
  })

  it.each([1, 0])(
    'is not followed by a claim with attempt %i: that is a dead worker’s, and is not obeyed',
    (attempt) => {
      const derived = deriveDialect('000A', [claim(1), { type: 'job_started' }, claim(attempt)])
      expect(derived.status).toBe('running')
      expect(rulesOf(derived)).toEqual(['attempt_not_higher'])
    },
  )

  it('is followed by a claim that does not say its attempt: it is obeyed, and reported', () => {
    const derived = deriveDialect('000A', [claim(), { type: 'job_started' }, claim()])
    expect(derived.status).toBe('assigned')
    expect(rulesOf(derived)).toEqual(['attempt_missing'])
    expect(rulesOf(deriveDialect('000B', ['queued', 'assigned', 'queued', 'assigned']))).toEqual(['attempt_missing'])
  })

  it('a later attempt may be the first that says', () => {
    expect(deriveDialect('000A', [claim(), claim(2)])).toMatchObject({ status: 'assigned', violations: [] })
  })
})

describe('a log that is not what it should be', () => {
  it('000A: the same event id twice has no effect; another event under it is reported', () => {
    const twice = { id: 'e1', type: 'job_claimed', payload: { attempts: 1 } }
    expect(deriveDialect('000A', [twice, twice])).toMatchObject({ status: 'assigned', repeated: 1, violations: [] })
    const reused = deriveDialect('000A', [twice, { id: 'e1', type: 'job_started' }])
    expect(reused).toMatchObject({ status: 'running', violations: [{ line: 2, rule: 'identity_reused' }] })
  })

  it('001: the same transition under the same request id is a success that changes nothing', () => {
    const say = (type: string, request_id: string) => ({ type, request_id })
    const log = [say('enqueued', 'r1'), say('claimed', 'r2'), say('claimed', 'r2'), say('started', 'r3')]
    const done = [...log, say('succeeded', 'r4'), say('succeeded', 'r4')]
    expect(deriveDialect('001', done)).toMatchObject({ status: 'succeeded', repeated: 2, violations: [] })
    const twice = deriveDialect('001', [...done, say('succeeded', 'r5')])
    expect(twice.violations).toMatchObject([{ line: 7, rule: 'after_the_end' }])
    // One request may cause two transitions; an empty id says nothing.
    expect(deriveDialect('001', [say('enqueued', ''), say('claimed', ''), say('started', '')]).repeated).toBe(0)
    expect(rulesOf(deriveDialect('001', [say('enqueued', 'r'), say('claimed', 'r'), say('started', 'r')]))).toEqual([])
  })

  it('002: the same state twice is allowed, a second ending is not obeyed', () => {
    const log = ['PENDING', 'PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED', 'SUCCEEDED', 'FAILED']
    const derived = deriveDialect('002', log)
    expect(derived).toMatchObject({ status: 'SUCCEEDED', repeated: 2 })
    expect(derived.violations).toMatchObject([{ line: 8, rule: 'after_the_end' }])
  })

  it('002: a JobResult is read by its status', () => {
    const log = ['PENDING', 'SCHEDULED', 'DISPATCHED', { job_id: 'j', status: 'FAILED', error_code: 'x' }]
    expect(deriveDialect('002', log)).toMatchObject({ status: 'FAILED', violations: [] })
  })

  it.each([
    [{ event: 'error', code: 'E_ROBOTS' }, 'failed'],
    [{ event: 'error', code: 'validation_failed' }, 'failed'],
    [{ event: 'error', error_code: 'rate_limited' }, 'retry_pending'],
    [{ event: 'error', code: 'captcha' }, 'retry_pending'],
    [{ event: 'error', code: 'never heard of' }, 'retry_pending'],
    [{ event: 'error', to: 'failed' }, 'failed'],
    [{ event: 'error', to: 'retry_pending', code: 'E_ROBOTS' }, 'retry_pending'],
  ])('004: %j leads to %s', (entry, status) => {
    expect(deriveDialect('004', ['accept', 'start', entry])).toMatchObject({ status, violations: [] })
  })

  it('004 and 001: a line that says where it came from is checked', () => {
    expect(rulesOf(deriveDialect('004', ['accept', { event: 'start', from: 'retry_pending', to: 'running' }]))).toEqual(
      ['says_otherwise'],
    )
    expect(
      rulesOf(deriveDialect('001', ['enqueued', { type: 'claimed', from_status: 'queued', to_status: 'running' }])),
    ).toEqual(['says_otherwise'])
  })

  it.each([
    ['000A', 'ts', { type: 'job_claimed' }, { type: 'job_started' }],
    ['000B', 'timestamp', { state: 'queued' }, { state: 'assigned' }],
    ['001', 'at', { type: 'enqueued' }, { type: 'claimed' }],
  ] as const)('%s: time does not run backwards in %s', (name, field, first, second) => {
    const at = (a: unknown, b: unknown) =>
      rulesOf(
        deriveDialect(name, [
          { ...first, [field]: a },
          { ...second, [field]: b },
        ]),
      )
    expect(at('2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z')).toEqual(['time_runs_backwards'])
    expect(at('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z')).toEqual([])
    expect(at(2, 1)).toEqual(['time_runs_backwards'])
    expect(at('yesterday', 1)).toEqual([])
    expect(at(2, undefined)).toEqual([])
  })

  it('is about one job', () => {
    const log = [{ type: 'enqueued', job_id: 'a' }, { type: 'claimed', job_id: 'b' }, { type: 'started' }]
    expect(rulesOf(deriveDialect('001', log))).toEqual(['another_job'])
  })

  it.each([...DIALECT_NAMES])('%s: an unknown word is named, and changes nothing', (name) => {
    const words = ['toString', '__proto__', 'constructor', 'none', 'undefined', '', 'x'.repeat(100_000)]
    for (const word of words) {
      const derived = deriveDialect(name, [word])
      expect(derived.status).toBeUndefined()
      if (name === '003') expect(derived.passedOver).toBe(1)
      else expect(derived.violations).toMatchObject([{ line: 1, rule: 'unknown_word' }])
      expect(JSON.stringify(derived).length).toBeLessThan(500)
    }
  })

  it.each([...DIALECT_NAMES])('%s: whatever is no log at all is said to be none', (name) => {
    for (const log of [undefined, null, 7, 'job_created', {}, { length: 3 }, () => 1, Symbol('x')]) {
      expect(deriveDialect(name, log)).toMatchObject({
        status: undefined,
        lines: 0,
        violations: [{ line: 0, rule: 'not_a_log' }],
      })
    }
    expect(deriveDialect(name, [])).toMatchObject({ status: undefined, lines: 0, violations: [] })
  })

  it.each([...DIALECT_NAMES])('%s: every line that is no entry is named', (name) => {
    const [field = ''] = DIALECTS[name].log.word
    const throwing = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new Error('no')
        },
      },
    )
    const lines = [null, undefined, 7, true, [], ['job_created'], {}, { [field]: 7 }, { [field]: null }, throwing, 10n]
    const derived = deriveDialect(name, lines)
    expect(derived.violations.map(({ line, rule }) => [line, rule])).toEqual(
      lines.map((_, i) => [i + 1, 'not_an_entry']),
    )
    expect(derived).toMatchObject({ status: undefined, lines: lines.length })
    // A hole in the list is a line too.
    expect(deriveDialect(name, new Array(2)).violations).toHaveLength(2)
  })

  it.each(['005', '', '__proto__', 'constructor'])('says that %j is no dialect', (name) => {
    const { status, violations } = deriveDialect(name as never, ['queued'])
    expect({ status, rules: violations.map(({ rule }) => rule) }).toEqual({
      status: undefined,
      rules: ['not_a_dialect'],
    })
  })

  it.each([...DIALECT_NAMES])(
    '%s: nothing that JSON can say makes it throw, and the good lines still count',
    (name) => {
      const { words, statuses } = TRANSCRIPTS[name]
      const { log } = DIALECTS[name]
      const field = fc.constantFrom(
        ...log.word,
        'payload',
        'attempt',
        'id',
        'job_id',
        'ts',
        'at',
        'from',
        'to',
        '__proto__',
      )
      const value = fc.oneof(fc.constantFrom(...words, ...statuses), fc.jsonValue())
      const line = fc.oneof(fc.constantFrom(...words), fc.jsonValue(), fc.dictionary(field, value))
      fc.assert(
        fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
          const derived = deriveDialect(name, lines)
          expect([undefined, ...statuses]).toContain(derived.status)
          expect(derived.lines).toBe(lines.length)
          for (const { rule, line: n } of derived.violations) {
            expect(LOG_RULES).toContain(rule)
            expect(n).toBeLessThanOrEqual(lines.length)
          }
        }),
        { numRuns: 500 },
      )
    },
  )
})
