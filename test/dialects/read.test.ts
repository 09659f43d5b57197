import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateJob } from '../../src/core/contract/validate-job.ts'
import { MARKS } from '../../src/core/dialects/chain.ts'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import type { Fields } from '../../src/core/dialects/dialect.ts'
import { history, log, type Told } from '../../src/core/dialects/history.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { statusOf, view } from '../../src/core/dialects/view.ts'
import { type Job, STATES } from '../../src/core/job.ts'
import { DIALECT_NAMES, type DialectName } from '../../src/core/policy.ts'
import { edges } from '../../src/core/transitions.ts'
import { given } from '../core/given.ts'
import { HISTORIES } from '../core/sample.ts'
import { scaled } from '../support/scale.ts'
import { lived } from './random-history.ts'
import { isAsideOf003, TRANSCRIPTS } from './transcripts.ts'

const RUNS = { numRuns: scaled(100, 2_000) }
const STATUS_FIELD: Readonly<Record<DialectName, string>> = {
  '000A': 'state',
  '000B': 'state',
  '001': 'status',
  '002': 'state',
  '003': 'State',
  '004': 'state',
}

/** Field names at any depth; below a free field the keys are the user's own. */
function namesIn(value: unknown, free: readonly string[]): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...(free.includes(name) ? [] : namesIn(inner, free))])
}

const words = (told: readonly Told[]) => told.map(({ step }) => step.word)

describe('the histories that are read here', () => {
  // Bun gives a test five seconds unless it asks for more.
  it('take nearly every way through the machine', { timeout: 60_000 }, () => {
    const taken = new Set(
      fc
        .sample(lived, { seed: 11, numRuns: 5_000 })
        .flatMap(({ events }) =>
          events.flatMap(({ type, from, to }) => (to === undefined ? [] : [`${type} ${from ?? 'none'} ${to}`])),
        ),
    )
    const untaken = edges().filter(({ event, from, to }) => !taken.has(`${event} ${from} ${to}`))
    // What is left needs several rare things in a row; below they happen on purpose.
    expect(untaken.filter(({ event }) => event !== 'compensating')).toEqual([])
  })
})

describe.each([...DIALECT_NAMES])('reading in %s', (name) => {
  const dialect = DIALECTS[name]
  const { statuses, words: known } = TRANSCRIPTS[name]

  it('never shows a word that the document does not know', () => {
    fc.assert(
      fc.property(lived, ({ events, jobs }) => {
        for (const job of jobs) {
          const shown = view(job, name)
          expect(dialect.fields).toEqual(expect.arrayContaining([...new Set(namesIn(shown, dialect.free))]))
          expect(statuses).toContain(shown[STATUS_FIELD[name]])
          expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
        }
        for (const { step, entry } of history(events, name)) {
          expect([...statuses, 'none']).toContain(step.from)
          expect(statuses).toContain(step.to)
          if (step.word === undefined) expect(entry).toBeUndefined()
          else if (name !== '003' || !isAsideOf003(step.word)) expect(known).toContain(step.word)
          expect([...dialect.fields, ...MARKS]).toEqual(expect.arrayContaining([...namesIn(entry, dialect.free)]))
          expect(entry?.implied).toBe(entry !== undefined && step.implied ? true : undefined)
        }
      }),
      RUNS,
    )
  })

  it('tells a history whose last word is the status that the view shows, after every event', () => {
    fc.assert(
      fc.property(lived, ({ events, jobs }) => {
        let last = 'none'
        let record = 0
        const told = history(events, name)
        for (const one of told) {
          if (one.record > record) last = 'none'
          expect(one.step.from).toBe(last)
          last = one.step.to
          record = one.record
        }
        const job = jobs.at(-1)
        expect(job && statusOf(job, dialect)).toBe(last)
        jobs.forEach((after, i) => {
          expect(history(events.slice(0, i + 1), name).at(-1)?.step.to).toBe(statusOf(after, dialect))
        })
      }),
      { numRuns: scaled(30, 500) },
    )
  })

  it('tells logs that its own fold reads back without a violation', () => {
    fc.assert(
      fc.property(lived, ({ events, jobs }) => {
        const told = history(events, name)
        const last = told.at(-1)?.record
        for (let record = 0; record <= (last ?? 0); record++) {
          const lines = told.filter((one) => one.record === record).flatMap(({ entry }) => (entry ? [entry] : []))
          const { status, violations } = deriveDialect(name, lines)
          // A failed job that is requeued in place breaks 003's first invariant: that is the document's own doing.
          expect(violations.filter(({ what }) => !what.startsWith('invariant 1'))).toEqual([])
          const job = jobs.at(-1)
          if (record !== last || job === undefined) continue
          const told000A = name === '000A' && (status === undefined || statusOf(job, dialect) === 'queued')
          if (!told000A) expect(status).toBe(statusOf(job, dialect))
        }
      }),
      RUNS,
    )
  })

  it('tells a part of a history as it tells the whole', () => {
    fc.assert(
      fc.property(lived, fc.nat(30), ({ events }, skip) => {
        for (const { step } of history(events.slice(skip), name)) expect(statuses).toContain(step.to)
      }),
      { numRuns: scaled(30, 500) },
    )
    expect(history([], name)).toEqual([])
    const { events } = given()
      .starts()
      .does({ type: 'heartbeat', fence: 'mine' }, { type: 'release', fence: 'mine', reason: 'handed_back' })
      .claims()
      .does({ type: 'cancel', mode: 'hard' }, { type: 'reopen' })
    const whole = history(events, name)
    events.forEach((_, i) => {
      const tail = history(events.slice(i), name)
      expect(tail.at(-1)?.step.to).toBe(whole.at(-1)?.step.to)
      if (i > 0) expect(tail[0]?.step.from).not.toBe(tail[0]?.record === 0 ? 'none' : 'queued')
    })
  })

  it.each([
    ['waiting', 1_000],
    ['parked', undefined],
  ])('tells a compensation that begins while the job is %s', (state, timeoutMs) => {
    const job = given()
      .starts()
      .does({ type: 'record', fence: 'mine', step: { name: 's', compensate: true } })
      .does({ type: 'wait', fence: 'mine', name: 'ok', timeoutMs })
    expect(job.state).toBe(state)
    const { record, events } = job.does({ type: 'cancel', mode: 'soft' })
    expect(record).toMatchObject({ state: 'queued', phase: 'compensate' })
    expect(history(events, name).at(-1)?.step.to).toBe(statusOf(record, dialect))
  })

  it.each([...STATES])('shows a job that is %s', (state) => {
    const { record, events } = HISTORIES[state]()
    const shown = view(record, name)
    expect(statuses).toContain(shown[STATUS_FIELD[name]])
    expect(history(events, name).at(-1)?.step.to).toBe(shown[STATUS_FIELD[name]])
  })
})

describe('the log in a document’s words', () => {
  it('is the entries alone, fit for the document’s own fold', () => {
    const { events } = HISTORIES.succeeded()
    expect(log(events, '001').map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'succeeded'])
    expect(log(events, '000A').map(({ type }) => type)).toEqual(['job_claimed', 'job_started', 'job_succeeded'])
    expect(deriveDialect('000A', log(events, '000A'))).toMatchObject({ status: 'succeeded', violations: [] })
  })
})

describe('the view in 001', () => {
  it('always keeps the contract of 001', () => {
    fc.assert(
      fc.property(lived, ({ jobs }) => {
        for (const job of jobs) expect(validateJob(view(job, '001'))).toEqual([])
      }),
      RUNS,
    )
  })

  it('says which ending a failed job really had', () => {
    const code = (state: 'cancelled' | 'denied' | 'failed' | 'timed_out') =>
      (view(HISTORIES[state]().record, '001')['error'] as Fields)['code']
    expect(code('cancelled')).toBe('cancelled')
    expect(code('denied')).toBe('denied')
    expect(code('failed')).toBe('bad_request')
    expect(code('timed_out')).toBe('E_TIMEOUT')
    const soft = given().does({ type: 'cancel', mode: 'soft', reason: 'no longer needed' }).record
    expect(view(soft, '001')['error']).toEqual({ message: 'no longer needed', code: 'cancelled' })
  })

  it('has owner, lease and result as the document names them', () => {
    expect(view(HISTORIES.running().record, '001')).toMatchObject({
      status: 'running',
      attempt: 1,
      owner: { worker_id: 'w1' },
      lease: { expires_at: '1970-01-01T00:17:11.000Z' },
    })
    const pointed = given().starts().does({ type: 'complete', fence: 'mine', resultPtr: 's3://r' }).record
    expect(view(pointed, '001')['result']).toBe('s3://r')
    const { record } = HISTORIES.succeeded()
    const kept = { ...record, result: { body: { name: 'output', size: 6, digest: undefined } } } as Job
    expect(view(kept, '001')['result']).toBe('pawl:/jobs/pj_1/output')
    expect(view(kept, '001', '{"a":1}')['result']).toEqual({ a: 1 })
    expect(view(kept, '001', `"${'x'.repeat(70_000)}"`)['result']).toBe('pawl:/jobs/pj_1/output')
    expect(view(kept, '004', '{"a":1}')).not.toHaveProperty('result')
  })
})

describe('the view in 000', () => {
  const REQUIRED = ['reason_code', 'last_error', 'attempts', 'last_owner', 'last_lease_expires_at', 'correlation_id']

  it.each([
    ['dead_lettered', 'policy_violation'],
    ['denied', 'policy_violation'],
    ['timed_out', 'timeout'],
  ] as const)('A: has all required fields of a dead letter when %s', (state, reason) => {
    const shown = view(HISTORIES[state]().record, '000A')
    for (const field of REQUIRED) expect(shown).toHaveProperty(field)
    expect(shown['reason_code']).toBe(reason)
  })

  it('A: names the last owner and its lease where there was one', () => {
    const dead = given().starts().does({ type: 'deadLetter', reason: 'parse_error', stage: 'input' }).record
    expect(view(dead, '000A')).toMatchObject({ last_owner: 'w1', last_lease_expires_at: '1970-01-01T00:17:11.000Z' })
  })

  it('A: writes events of its minimal schema, one for each transition, with ids of their own', () => {
    const { events } = given().starts().does({ type: 'heartbeat', fence: 'mine' }, { type: 'complete', fence: 'mine' })
    const told = history(events, '000A')
    expect(words(told)).toEqual([
      undefined,
      'job_claimed',
      'job_started',
      'job_heartbeat',
      'job_lease_renewed',
      'job_succeeded',
    ])
    const entries = told.flatMap(({ entry }) => (entry ? [entry] : []))
    for (const entry of entries) {
      expect(Object.keys(entry)).toEqual([
        ...['id', 'job_id', 'type', 'ts', 'actor', 'correlation_id', 'cause', 'payload', 'version', 'rev', 'after_rev'],
        ...(entry['moves'] === undefined ? [] : ['move', 'moves']),
      ])
    }
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  })

  it('A: shows a cancel from queued by the only way the document has, and the claim that never was is no attempt', () => {
    const told = history(given().does({ type: 'cancel', mode: 'hard' }).events, '000A')
    expect(told.slice(1).map(({ step }) => [step.word, step.implied])).toEqual([
      ['job_claimed', true],
      ['job_started', true],
      ['job_cancelled', false],
    ])
    expect(told[1]?.entry?.['payload']).toEqual({ attempts: 0 })
  })

  it('A: says why a job was dead-lettered', () => {
    const { events } = given().does({ type: 'deadLetter', reason: 'parse_error', stage: 'input', message: 'not JSON' })
    expect(history(events, '000A').at(-1)?.entry?.['payload']).toEqual({
      attempts: 0,
      reason_code: 'parse_error',
      last_error: 'not JSON',
    })
  })

  it('B: records timestamp, actor, reason and correlation with each transition', () => {
    for (const { entry } of history(given().starts().events, '000B')) {
      expect(Object.keys(entry ?? {})).toEqual(
        expect.arrayContaining(['timestamp', 'actor', 'reason', 'correlation_id']),
      )
    }
  })

  it('B: a job that is queued and stays so makes no detour to say so', () => {
    const job = given()
      .starts()
      .does({ type: 'record', fence: 'mine', step: { name: 's', compensate: true } })
      .fails()
    const before = history(job.events, '000B').length
    job.does({ type: 'cancel', mode: 'soft' })
    expect(job.events.at(-1)).toMatchObject({ type: 'compensating', from: 'retrying', to: 'queued' })
    expect(history(job.events, '000B')).toHaveLength(before)
  })

  it('returns to queued with a higher attempt when a lease was lost', () => {
    const stalled = given().starts().after(60_000)
    stalled.ticks().accepted()
    const { events } = stalled.claims()
    const claims = history(events, '000A').filter(({ step }) => step.word === 'job_claimed')
    expect(claims.map(({ entry }) => entry?.['payload'])).toEqual([{ attempts: 1 }, { attempts: 2 }])
    expect(history(events, '000B').map(({ step }) => step.to)).toEqual([
      ...['queued', 'assigned', 'running', 'queued', 'assigned'],
    ])
  })
})

describe('the view in 002', () => {
  it('speaks of JobRequest and JobResult', () => {
    const words = { topic: 'job.code.llm', contextPtr: 'mem://1', parentId: 'pj_5', workflowId: 'w', stepIndex: 2 }
    const running = given({}, { ...words, priority: 1 }).starts()
    expect(view(running.record, '002')).toEqual({
      state: 'RUNNING',
      JobRequest: {
        job_id: 'pj_1',
        topic: 'job.code.llm',
        priority: 'critical',
        context_ptr: 'mem://1',
        parent_job_id: 'pj_5',
        workflow_id: 'w',
        step_index: 2,
      },
    })
    const done = running.does({ type: 'complete', fence: 'mine', resultPtr: 'mem://2', executionMs: 12 })
    expect(view(done.record, '002')['JobResult']).toEqual({
      job_id: 'pj_1',
      status: 'SUCCEEDED',
      result_ptr: 'mem://2',
      worker_id: 'w1',
      execution_ms: 12,
    })
  })

  it.each([
    [0, 'critical'],
    [1, 'critical'],
    [3, 'interactive'],
    [5, 'interactive'],
    [7, 'batch'],
    [9, 'batch'],
  ])('priority %i is %s', (priority, word) => {
    expect(view(given({}, { priority }).record, '002')['JobRequest']).toMatchObject({ priority: word })
  })

  it('shows the highest status reached: nothing goes back', () => {
    const job = given()
    const seen = [statusOf(job.record, DIALECTS['002'])]
    job.claims()
    seen.push(statusOf(job.record, DIALECTS['002']))
    job.does({ type: 'release', fence: 'mine', reason: 'handed_back' })
    seen.push(statusOf(job.record, DIALECTS['002']))
    job.starts().fails()
    seen.push(statusOf(job.record, DIALECTS['002']))
    job.after(60_000).claims()
    seen.push(statusOf(job.record, DIALECTS['002']))
    expect(seen).toEqual(['SCHEDULED', 'DISPATCHED', 'DISPATCHED', 'RUNNING', 'RUNNING'])
  })

  it('links a reopened job to what it was', () => {
    const job = given().does({ type: 'cancel', mode: 'hard' }, { type: 'reopen' }).record
    expect(view(job, '002')['JobRequest']).toMatchObject({ job_id: 'pj_1/1', parent_job_id: 'pj_1' })
    const twice = given()
      .does({ type: 'cancel', mode: 'hard' }, { type: 'reopen' })
      .does({ type: 'cancel', mode: 'hard' }, { type: 'reopen' }).record
    expect(view(twice, '002')['JobRequest']).toMatchObject({ job_id: 'pj_1/2', parent_job_id: 'pj_1/1' })
  })

  it('tells a denied job by the rule', () => {
    const { record } = given({ admission: true }).does({
      type: 'deny',
      rule: 'no-llm',
      policyHash: 'h',
      reason: 'risky',
    })
    expect(view(record, '002')['JobResult']).toMatchObject({
      status: 'DENIED',
      error_code: 'no-llm',
      error_message: 'risky',
    })
  })
})

describe('the view in 003', () => {
  it('emits one of job_leased and job_running, and no event for parking or for the start', () => {
    const { events } = HISTORIES.parked()
    expect(words(history(events, '003'))).toEqual(['job_created', 'job_leased', 'job_waiting'])
  })

  it('shows a retry as job_requeued', () => {
    expect(words(history(HISTORIES.retrying().events, '003')).at(-1)).toBe('job_requeued')
  })

  it.each([
    ['queued', 'StatusPending'],
    ['running', 'StatusRunning'],
    ['waiting', 'StatusWaiting'],
    ['succeeded', 'StatusCompleted'],
    ['failed', 'StatusFailed'],
    ['cancelled', 'StatusCancelled'],
  ] as const)('%s is %s', (state, constant) => {
    expect(view(HISTORIES[state]().record, '003')['JobStatus']).toBe(constant)
  })

  it('requeues a failed job in place, and starts a cancelled one anew', () => {
    const failed = history(HISTORIES.failed().does({ type: 'reopen' }).events, '003').at(-1)
    expect(failed).toMatchObject({ record: 0, step: { from: 'Failed', word: 'job_requeued' } })
    const cancelled = history(HISTORIES.cancelled().does({ type: 'reopen' }).events, '003').at(-1)
    expect(cancelled).toMatchObject({ record: 1, step: { from: 'none', word: 'job_requeued' } })
  })
})

describe('the view in 004', () => {
  it('has counters, times and the error as the document names them', () => {
    const job = given()
      .starts()
      .does({ type: 'progress', fence: 'mine', counters: { urls_total: 9, chunks_indexed: 3, private: 1 } })
      .does({
        type: 'fail',
        fence: 'mine',
        executionMs: 1_500,
        fault: { code: 'E_5XX_ORIGIN', message: 'bad gateway', context: { domain: 'a.org', secret: 'x' } },
      })
    expect(view(job.record, '004')).toEqual({
      job_id: 'pj_1',
      type: 'crawl.page',
      state: 'retry_pending',
      attempt: 1,
      updated_at: '1970-01-01T00:16:40.000Z',
      urls_total: 9,
      chunks_indexed: 3,
      duration_seconds: 1.5,
      error_code: 'E_5XX_ORIGIN',
      message: 'bad gateway',
      context: { domain: 'a.org', attempt: 1, worker_id: 'w1' },
    })
    job.after(60_000).claims('w2')
    expect(view(job.record, '004')['context']).toMatchObject({ worker_id: 'w1' })
  })

  it('sets canceled_at when and only when it is canceled', () => {
    expect(view(HISTORIES.cancelled().record, '004')['canceled_at']).toBe('1970-01-01T00:16:40.000Z')
    expect(view(HISTORIES.failed().record, '004')).not.toHaveProperty('canceled_at')
  })

  it('tells heartbeats and progress only of a job that runs', () => {
    const { events } = given()
      .claims()
      .does({ type: 'heartbeat', fence: 'mine' }, { type: 'start', fence: 'mine' })
      .does({ type: 'heartbeat', fence: 'mine' }, { type: 'progress', fence: 'mine', counters: {} })
      .does({ type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 } })
    expect(words(history(events, '004'))).toEqual(['accept', 'start', 'heartbeat', 'progress'])
  })

  it('is silent about a compensation that begins while the job is queued', () => {
    const job = given()
      .starts()
      .does({ type: 'record', fence: 'mine', step: { name: 's', compensate: true } })
      .does({ type: 'release', fence: 'mine', reason: 'handed_back' })
    const before = history(job.events, '004').length
    job.does({ type: 'cancel', mode: 'soft' })
    expect(job.record.phase).toBe('compensate')
    expect(history(job.events, '004')).toHaveLength(before)
  })
})

describe('003 with all its states', () => {
  const told = (history: ReturnType<typeof given>) =>
    log(history.events, '003-explicit').map(({ Event, next_state }) => [Event, next_state])

  it('has a status and a word of its own for each', () => {
    const parked = given().starts().does({ type: 'wait', fence: 'mine', name: 'go' }).after(60_000)
    expect(told(parked).slice(0, 3)).toEqual([
      ['job_queued', 'Queued'],
      ['job_leased', 'Leased'],
      ['job_running', 'Running'],
    ])
    expect(view(given().claims().record, '003-explicit')).toMatchObject({ State: 'Leased', JobStatus: 'StatusRunning' })
    expect(view(given().starts().record, '003-explicit')).toMatchObject({
      State: 'Running',
      JobStatus: 'StatusRunning',
    })
    const pending = given({ admission: true })
    expect(told(pending)).toEqual([['job_created', 'Queued']])
  })

  it('tells plans, nodes and tools beside them', () => {
    const planned = given()
      .starts()
      .does({ type: 'record', fence: 'mine', note: { kind: 'plan_generated', name: 'draft' } })
    expect(told(planned).at(-1)).toEqual(['plan_generated', 'Running'])
  })
})
