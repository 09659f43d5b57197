import { describe, expect, it } from 'vitest'
import { given, type History } from '../given.ts'

const step = (name: string) => ({ type: 'record', fence: 'mine', step: { name, compensate: true } }) as const

const booked = (policy = {}): History => given(policy).starts().does(step('hotel'), step('flight'))

const undoing = (history: History): History =>
  history.does({ type: 'claim', workerId: 'w2', nonce: 'fedcba9876543210' }, { type: 'start', fence: 'mine' })

describe('a job with steps to undo', () => {
  it('goes to undo them instead of failing, then fails as intended', () => {
    const history = booked()
    history
      .when({ type: 'fail', fence: 'mine', fault: { code: 'bad_request', message: 'no' } })
      .gives('queued', 'compensating')
    expect(history.record).toMatchObject({
      phase: 'compensate',
      failures: 0,
      stalls: 0,
      readyAt: history.now,
      compensations: ['hotel', 'flight'],
    })
    undoing(history).does({ type: 'record', fence: 'mine', undone: 'flight' })
    expect(history.record.compensations).toEqual(['hotel'])
    history.when({ type: 'complete', fence: 'mine' }).refused('WRONG_PHASE')
    history.when({ type: 'compensated', fence: 'mine' }).gives('failed', 'compensated', 'failed')
    expect(history.record).toMatchObject({ error: { code: 'bad_request' }, compensations: [], failures: 0 })
  })

  it.each([
    ['a deadline', { deadline: '5s' }, (h: History) => h.after(5_000).ticks(), 'timed_out'],
    ['a soft cancel', {}, (h: History) => h.when({ type: 'cancel', mode: 'soft', fence: 'mine' }), 'cancelled'],
    [
      'a dead letter',
      {},
      (h: History) => h.when({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec' }),
      'dead_lettered',
    ],
  ] as const)('undoes them on %s', (_, policy, end, state) => {
    const history = booked(policy)
    end(history).gives('queued', 'compensating')
    const { cancel } = history.record
    undoing(history).when({ type: 'compensated', fence: 'mine' }).gives(state, 'compensated', state)
    if (state === 'cancelled')
      expect(history.record.cancel).toMatchObject({ by: 'test', requestedAt: cancel?.requestedAt })
  })

  it('notes the compensation where it is queued already', () => {
    const history = booked({ deadline: '5s' }).does({ type: 'release', fence: 'mine', reason: 'handed_back' })
    const seq = history.record.seq
    history.after(5_000).ticks().gives('queued', 'compensating')
    expect(history.record).toMatchObject({ seq, phase: 'compensate' })
  })

  it('undoes them when a worker dies for the last time', () => {
    booked({ retry: { stalls: 0 } })
      .after(31_000)
      .ticks()
      .gives('queued', 'stalled', 'compensating')
  })

  it('undoes nothing when it succeeds, or is cancelled hard', () => {
    booked().when({ type: 'complete', fence: 'mine' }).gives('succeeded', 'succeeded')
    booked().when({ type: 'cancel', mode: 'hard' }).gives('cancelled', 'cancelled')
  })

  it('keeps its id in strict 002: only the same job knows what to undo', () => {
    booked({ dialect: '002' })
      .when({ type: 'fail', fence: 'mine', fault: { code: 'x', message: '' } })
      .gives('retrying', 'retry_scheduled')
  })
})

describe('a job that undoes its steps', () => {
  const compensating = (policy = {}) => undoing(booked(policy).does({ type: 'cancel', mode: 'soft', fence: 'mine' }))

  it('is claimable, waits, fails and retries although a cancel was requested', () => {
    compensating().when({ type: 'wait', fence: 'mine', name: 'refund' }).gives('parked', 'waiting', 'parked')
    compensating()
      .when({ type: 'fail', fence: 'mine', fault: { code: 'x', message: '' } })
      .gives('retrying', 'retry_scheduled')
    compensating().when({ type: 'release', fence: 'mine', reason: 'shutdown' }).gives('queued', 'released')
    compensating().after(31_000).ticks().gives('queued', 'stalled', 'requeued')
  })

  it('is dead-lettered when its own budget or deadline is spent', () => {
    const failing = { type: 'fail', fence: 'mine', fault: { code: 'x', message: '' } } as const
    const spent = compensating({ retry: { attempts: 1 } })
    spent.when(failing).gives('dead_lettered', 'dead_lettered')
    expect(spent.record.deadLetter?.reason).toBe('compensation_failed')
    compensating({ retry: { stalls: 0 } })
      .after(31_000)
      .ticks()
      .gives('dead_lettered', 'stalled', 'dead_lettered')
    compensating({ lease: '1h', heartbeat: '30m', timeout: '2h', compensateWithin: '10s' })
      .after(10_000)
      .ticks()
      .gives('dead_lettered', 'dead_lettered')
  })

  it('goes on after a wait or an attempt that took too long, even where the job type would end there', () => {
    compensating({ onWaitTimeout: 'timed_out' })
      .does({ type: 'wait', fence: 'mine', name: 'refund', timeoutMs: 1_000 })
      .after(1_000)
      .ticks()
      .gives('queued', 'wait_timed_out')
    compensating({ onTimeout: 'timed_out' })
      .when({ type: 'fail', fence: 'mine', fault: { code: 'E_TIMEOUT', message: 'too long' } })
      .gives('retrying', 'retry_scheduled')
  })

  it('is interrupted by a hard cancel or an operator’s dead letter only', () => {
    compensating().when({ type: 'cancel', mode: 'soft' }).replayed()
    const failed = undoing(booked().fails({ code: 'bad_request' }))
    failed.when({ type: 'cancel', mode: 'soft' }).refused('WRONG_PHASE')
    failed
      .when({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec' })
      .gives('dead_lettered', 'dead_lettered')
    compensating().when({ type: 'cancel', mode: 'hard' }).gives('cancelled', 'cancelled')
  })

  it('starts afresh when it is reopened', () => {
    const history = compensating().does({ type: 'compensated', fence: 'mine' }, { type: 'reopen' })
    expect(history.record).toMatchObject({
      phase: 'run',
      intended: undefined,
      cancel: undefined,
      compensations: [],
      generation: 1,
    })
  })
})
