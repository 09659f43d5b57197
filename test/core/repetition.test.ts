import { describe, expect, it } from 'vitest'
import { type Birth, birthOf, sameCall } from '../../src/core/decide/enqueue.ts'
import type { Event } from '../../src/core/event.ts'
import { impliedRequestId, receiptOf } from '../../src/core/receipt.ts'
import { given, type History, kindOf, type Words } from './given.ts'

/** What a store finds when it looks for the events a request has caused. */
const caused = (history: History, requestId: string): readonly Event[] =>
  history.events.filter((event) => event.requestId === requestId)

describe('the same request id', () => {
  it.each([
    ['progress', { type: 'progress', fence: 'mine', progress: { done: 1 } }],
    ['checkpoint', { type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 } }],
    ['record', { type: 'record', fence: 'mine', artifact: { name: 'a', ptr: 'p' } }],
    ['heartbeat', { type: 'heartbeat', fence: 'mine' }],
  ] as const)('replays %s while the lease lives, by the record alone', (_, words) => {
    const history = given()
      .starts()
      .does({ ...words, requestId: 'once' } as Words)
    const { rev } = history.record
    history
      .after(5)
      .when({ ...words, requestId: 'once' } as Words)
      .replayed()
    expect(history.record.rev).toBe(rev)
  })

  it.each([
    ['cancel', { type: 'cancel', mode: 'soft' }],
    ['signal', { type: 'signal', name: 'x' }],
    ['reschedule', { type: 'reschedule', priority: 2 }],
    ['deadLetter', { type: 'deadLetter', reason: 'timeout', stage: 'exec' }],
  ] as const)('replays %s by the events it caused, with the answer of then', (_, words) => {
    const history = given().does({ ...words, requestId: 'once' } as Words)
    const then = receiptOf(caused(history, 'once'))
    const outcome = history.after(5).when({ ...words, requestId: 'once' } as Words, caused(history, 'once'))
    outcome.replayed()
    expect(outcome.decision).toMatchObject({ receipt: then })
  })

  it('replays an outcome after the lease is gone', () => {
    const history = given().starts()
    const { fence } = history
    const words = {
      type: 'fail',
      fence,
      fault: { code: 'x', message: 'm' },
      requestId: impliedRequestId(fence, 'fail'),
    } as const
    history.does(words)
    history.when(words).refused('STALE_FENCE')
    history.when(words, caused(history, words.requestId)).replayed()
  })

  it('is nobody’s but the owner’s', () => {
    const history = given().starts().does({ type: 'heartbeat', fence: 'mine', requestId: 'beat' })
    history.when({ type: 'heartbeat', fence: '0.1.fedcba9876543210', requestId: 'beat' }).refused('STALE_FENCE')
  })

  it('is refused for another command or other words', () => {
    const history = given()
      .starts()
      .does({ type: 'progress', fence: 'mine', progress: { done: 1 }, requestId: 'once' })
    history
      .when({ type: 'progress', fence: 'mine', progress: { done: 2 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
    history
      .when({ type: 'checkpoint', fence: 'mine', body: { name: 'c', size: 1 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
  })

  it('tells other words apart wherever they stand, and takes maps in any order', () => {
    const history = given()
      .starts()
      .does({ type: 'progress', fence: 'mine', counters: { kind: 1, actor: 2 }, requestId: 'once' })
    history.when({ type: 'progress', fence: 'mine', counters: { actor: 2, kind: 1 }, requestId: 'once' }).replayed()
    history
      .when({ type: 'progress', fence: 'mine', counters: { kind: 7, actor: 2 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
  })

  it('is not disturbed by a field that nobody knows', () => {
    given()
      .starts()
      .when({ type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 }, more: [1n, null] })
      .accepted()
  })

  it('remembers the last eight words of an owner', () => {
    const history = given().starts()
    for (let i = 0; i < 9; i++)
      history.does({ type: 'progress', fence: 'mine', progress: { done: i }, requestId: `p${i}` })
    expect(history.record.recent.map((receipt) => receipt.requestId)).toEqual([
      'p1',
      'p2',
      'p3',
      'p4',
      'p5',
      'p6',
      'p7',
      'p8',
    ])
  })

  it('has no receipt where nothing was caused', () => {
    expect(receiptOf([])).toBeUndefined()
  })
})

describe('another request id, the same outcome', () => {
  it('is a replay of start', () => {
    given().starts().when({ type: 'start', fence: 'mine' }).replayed()
  })

  it.each([{}, { resultPtr: 's3://x' }, { result: { name: 'output', size: 3, digest: 'd' } }])(
    'is a replay of complete %j',
    (result) => {
      const history = given().starts()
      const { fence } = history
      history
        .does({ type: 'complete', fence, ...result })
        .when({ type: 'complete', fence, ...result })
        .replayed()
      history.when({ type: 'complete', fence, result: { name: 'output', size: 99 } }).refused('STALE_FENCE')
      history.when({ type: 'complete', fence: '0.1.fedcba9876543210', ...result }).refused('STALE_FENCE')
    },
  )

  it('is a replay of fail once the job has ended', () => {
    const history = given().starts()
    const { fence } = history
    history.does({ type: 'fail', fence, fault: { code: 'bad_request', message: 'm' } })
    history.when({ type: 'fail', fence, fault: { code: 'bad_request', message: 'm' } }).replayed()
    history.when({ type: 'fail', fence, fault: { code: 'bad_request', message: 'other' } }).refused('STALE_FENCE')
    history.when({ type: 'fail', fence, fault: { code: 'other', message: 'm' } }).refused('STALE_FENCE')
    history.when({ type: 'fail', fence: 'x', fault: { code: 'bad_request', message: 'm' } }).refused('STALE_FENCE')
  })
})

describe('enqueue', () => {
  const words = {
    type: 'enqueue',
    id: 'pj_1',
    kind: kindOf(),
    priority: 5,
    input: { name: 'input', size: 3, digest: 'abc' },
  } as const

  it('of the same id and words is the same job, whatever has become of it', () => {
    const history = given({}, words).does({ type: 'reschedule', priority: 1 })
    history.when({ ...words, traceparent: 'other', priority: 7 }).replayed()
  })

  it('compares labels by what they say, not by their order', () => {
    const history = given({}, { ...words, labels: { kind: 'a', site: 'b' } })
    history.when({ ...words, labels: { site: 'b', kind: 'a' } }).replayed()
    history.when({ ...words, labels: { kind: 'other', site: 'b' } }).refused('ID_TAKEN')
  })

  it('of the same id and other words is refused, naming the holder', () => {
    const outcome = given({}, words).when({ ...words, input: { name: 'input', size: 4 } })
    outcome.refused('ID_TAKEN')
    expect(outcome.decision).toMatchObject({ refusal: { holder: 'pj_1' } })
    given({}, words)
      .when({ ...words, kind: { ...words.kind, type: 'other' } })
      .refused('ID_TAKEN')
    given({}, words)
      .when({ ...words, kind: { ...words.kind, queue: 'other' } })
      .refused('ID_TAKEN')
    given({}, words)
      .when({ ...words, kind: { ...words.kind, tenant: 'other' } })
      .refused('ID_TAKEN')
  })

  it('asks for no more than it says: what was left to the type may have changed', () => {
    const left = { ...words, kind: { ...words.kind, queue: 'other' }, unsaid: ['queue'] } as const
    given({}, words).when(left).replayed()
  })

  it('is the same call only with the same urgency, time and policy', () => {
    const born = given({}, words).record
    const birth = birthOf(born) as Birth
    const command = { ...words, actor: 'a', requestId: 'r' } as const
    const same = (more: object) => sameCall(born.id, birth, { ...command, ...more })
    expect(same({})).toBe(true)
    expect(same({ runAt: born.spec.createdAt - 5, correlationId: 'c', requestId: 'r2', traceparent: 't' })).toBe(true)
    expect(same({ priority: 6 })).toBe(false)
    expect(same({ runAt: born.spec.createdAt + 1 })).toBe(false)
    expect(same({ topic: 'x' })).toBe(false)
    const strict = { kind: kindOf({ retry: { attempts: 1 } }) }
    expect(same(strict)).toBe(false)
    expect(same({ ...strict, unsaid: ['policy'] })).toBe(true)
    expect(birthOf(given({}, words).does({ type: 'reschedule', priority: 1 }).record)).toBeUndefined()
  })

  it('is delayed by runAt, never into the past', () => {
    expect(given({}, { runAt: 2_000_000 }).record.readyAt).toBe(2_000_000)
    expect(given({}, { runAt: 5 }).record.readyAt).toBe(1_000_000)
    given({}, { runAt: 2_000_000 })
      .when({ type: 'claim', workerId: 'w', nonce: '0123456789abcdef' })
      .refused('NOT_READY')
  })

  it('carries correlation, and takes its request for one where none is given', () => {
    expect(given({}, { correlationId: 'c' }).record.spec.correlationId).toBe('c')
    expect(given({}, { requestId: 'r' }).events[0]).toMatchObject({ correlationId: 'r' })
  })
})

describe('revisions', () => {
  it('go up by one for each event, and by none for a refusal', () => {
    const history = given().starts().does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record).toMatchObject({ rev: 4, baseRev: 3, seq: 3 })
  })

  it('tolerate the owner’s own heartbeats and progress in between, nothing else', () => {
    const history = given()
      .starts()
      .does({ type: 'heartbeat', fence: 'mine' }, { type: 'progress', fence: 'mine', progress: { done: 1 } })
    history.when({ type: 'cancel', mode: 'soft', expectedRev: 2 }).refused('REV_CONFLICT')
    history.when({ type: 'cancel', mode: 'soft', expectedRev: 6 }).refused('REV_CONFLICT')
    history.when({ type: 'cancel', mode: 'soft', expectedRev: 3 }).gives('running', 'cancel_requested')
    history.when({ type: 'complete', fence: 'mine', expectedRev: 5 }).refused('REV_CONFLICT')
  })

  it('are required in strict 001', () => {
    const history = given({ dialect: '001' }).claims()
    history.when({ type: 'start', fence: 'mine' }).refused('REV_REQUIRED')
    history.when({ type: 'start', fence: 'mine', expectedRev: 2 }).gives('running', 'started')
  })
})

describe('fences', () => {
  it('are opaque and compared whole; only attempts that existed are noted', () => {
    const history = given().starts()
    const noted = (fence: string) => {
      const { decision } = history.when({ type: 'complete', fence })
      return decision.kind === 'refused' && decision.refusal.code === 'STALE_FENCE' && decision.annotation !== undefined
    }
    expect(noted('0.1.0123456789abcdee')).toBe(true)
    for (const fence of [
      'x',
      '0.2.0123456789abcdef',
      '1.1.0123456789abcdef',
      '0.0.0123456789abcdef',
      `${history.fence} `,
    ])
      expect(noted(fence)).toBe(false)
  })

  it('tell who owns the job now', () => {
    const outcome = given()
      .claims('worker-7')
      .when({ type: 'start', fence: '0.1.fedcba9876543210', correlationId: 'c' })
    outcome.refused('STALE_FENCE')
    expect(outcome.decision).toMatchObject({
      refusal: { owner: 'worker-7', job: 'pj_1', state: 'claimed', command: 'start' },
      annotation: { correlationId: 'c' },
    })
  })
})

describe('admission and reopening', () => {
  it('refuses to admit what nobody kept out, and answers again where it was admitted', () => {
    const admit = { type: 'admit', rule: 'all', policyHash: 'p1' } as const
    given().when(admit).refused('ILLEGAL_TRANSITION')
    const admitted = given({ admission: true }).does(admit)
    expect(admitted.when(admit).decision.kind).toBe('replayed')
    admitted.claims().when(admit).refused('ILLEGAL_TRANSITION')
  })

  it('admits, denies before the first claim only, and reopens to pending', () => {
    const history = given({ admission: true }, { runAt: 1_500_000 })
    history.when({ type: 'admit', rule: 'r1', policyHash: 'h' }).gives('queued', 'admitted')
    expect(history.record.readyAt).toBe(1_500_000)
    given()
      .starts()
      .does({ type: 'release', fence: 'mine', reason: 'handed_back' })
      .when({ type: 'deny', rule: 'r', policyHash: 'h' })
      .refused('ILLEGAL_TRANSITION')
    given({ admission: true })
      .does({ type: 'cancel', mode: 'soft' })
      .when({ type: 'reopen', reason: 'again' })
      .gives('pending', 'reopened')
  })

  it('reopens with fresh budgets and deadline, the attempt kept', () => {
    const history = given({ deadline: '10s', startWithin: '5s', retry: { attempts: 1 } })
      .starts()
      .fails()
      .after(50_000)
    history.when({ type: 'reopen', runAt: history.now + 1_000 }).gives('queued', 'reopened')
    expect(history.record).toMatchObject({
      generation: 1,
      attempt: 1,
      failures: 0,
      stalls: 0,
      error: undefined,
      deadlineAt: history.now + 10_000,
      startBy: history.now + 6_000,
    })
    history.after(1_000).claims()
    expect(history.fence.startsWith('1.2.')).toBe(true)
  })

  it('reschedules what waits to run', () => {
    const history = given({}, { runAt: 9_000_000 })
    history.when({ type: 'reschedule', runAt: 5 }).gives('queued', 'rescheduled')
    expect(history.record.readyAt).toBe(history.now)
    history.does({ type: 'reschedule', priority: 0 })
    expect(history.record).toMatchObject({ priority: 0, readyAt: history.now })
  })

  it('releases without burning budget, now or later', () => {
    const history = given()
      .starts()
      .does({ type: 'release', fence: 'mine', reason: 'snoozed', runAt: 1_600_000, executionMs: 5 })
    expect(history.record).toMatchObject({
      state: 'queued',
      failures: 0,
      stalls: 0,
      attempt: 1,
      readyAt: 1_600_000,
      executionMs: 5,
    })
  })

  it('dead-letters with the message given, or the last failure', () => {
    const said = given()
      .claims()
      .does({ type: 'deadLetter', reason: 'parse_error', stage: 'input', message: 'not JSON', fence: 'mine' })
    expect(said.record.deadLetter).toMatchObject({
      reason: 'parse_error',
      stage: 'input',
      lastError: { message: 'not JSON' },
      lastOwner: 'w1',
    })
    const kept = given().starts().fails().does({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec' })
    expect(kept.record.deadLetter?.lastError.code).toBe('E_5XX_ORIGIN')
    const never = given().does({ type: 'deadLetter', reason: 'policy_violation', stage: 'input' })
    expect(never.record.deadLetter).toMatchObject({ lastOwner: null, lastLeaseExpiresAt: null, attempts: 0 })
  })
})
