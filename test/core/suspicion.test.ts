import { describe, expect, it } from 'vitest'
import { crashedApart, runsApart } from '../../src/core/suspicion.ts'
import { given } from './given.ts'

const lost = (policy: Parameters<typeof given>[0] = {}) => given(policy).starts().after(31_000).does({ type: 'stall' })

describe('a job whose last attempt ended without a word', () => {
  it('runs apart the next time, and nobody else does', () => {
    expect(runsApart(given().record)).toBe(false)
    expect(crashedApart(given().record)).toBe(false)
    expect(runsApart(given().starts().record)).toBe(false)
    expect(runsApart(lost().record)).toBe(true)
    expect(runsApart(lost().claims('w2').record)).toBe(true)
    expect(runsApart(lost().starts().record)).toBe(true)
  })

  it('has shown itself once its handler has ended an attempt, however', () => {
    const fault = { code: 'x', message: '' }
    const words = [
      { type: 'fail', fence: 'mine', fault },
      { type: 'wait', fence: 'mine', name: 'x', timeoutMs: 10 },
      { type: 'release', fence: 'mine', reason: 'snoozed' },
      { type: 'complete', fence: 'mine' },
    ] as const
    for (const word of words) expect(runsApart(lost().starts().does(word).record)).toBe(false)
  })

  it('has shown nothing by being handed back', () => {
    for (const reason of ['shutdown', 'handed_back'] as const) {
      const history = lost().starts().does({ type: 'release', fence: 'mine', reason })
      expect(runsApart(history.record)).toBe(true)
      expect(crashedApart(history.record)).toBe(false)
    }
  })

  it('is not cleared by being reopened', () => {
    const history = lost({ retry: { stalls: 0 } }).does({ type: 'requeue' })
    expect(history.record.state).toBe('dead_lettered')
    expect(runsApart(history.does({ type: 'reopen' }).record)).toBe(true)
  })
})

describe('a job that is lost while it runs apart', () => {
  it('has itself to blame: a failure of its own, tried again like any', () => {
    const history = lost().does({ type: 'requeue' }).starts().after(31_000)
    history.ticks().gives('retrying', 'stalled', 'retry_scheduled')
    expect(history.record).toMatchObject({
      stalls: 2,
      failures: 0,
      lastFailure: { code: 'E_CRASH', class: 'transient', message: expect.stringMatching(/nothing but this job/) },
    })
    expect(runsApart(history.record)).toBe(true)
  })

  it('has been tried: it is not late for its start when it is tried again', () => {
    const history = given({ startWithin: '90s', onNotStarted: 'timed_out' })
    history.claims().after(31_000).ticks().gives('queued', 'stalled', 'requeued')
    history.claims().after(31_000).ticks().gives('retrying', 'stalled', 'retry_scheduled')
    history.after(60_000).claims()
    expect(history.record).toMatchObject({ state: 'claimed', startBy: undefined })
    expect(history.record.nextTickAt).toBe(history.record.lease?.expiresAt)
  })

  it('ends with that when its budget is spent', () => {
    const history = lost({ retry: { stalls: 1 } })
      .does({ type: 'requeue' })
      .starts()
      .after(31_000)
    history.ticks().gives('dead_lettered', 'stalled', 'dead_lettered')
    expect(history.record.deadLetter).toMatchObject({
      reason: 'infrastructure_failure',
      lastError: { code: 'E_CRASH' },
    })
  })

  it('ends at once where its type says that no retry will help', () => {
    const history = lost({ errors: { E_CRASH: 'permanent' } })
      .does({ type: 'requeue' })
      .starts()
      .after(31_000)
    history.ticks().gives('failed', 'stalled', 'failed')
    expect(history.record.error).toMatchObject({ code: 'E_CRASH', class: 'permanent' })
  })

  it('is judged by its document where it is bound to one: they have no words for it', () => {
    const history = given({ dialect: '003' }).starts().after(31_000).does({ type: 'stall' }).does({ type: 'requeue' })
    history.starts().after(31_000).ticks().gives('queued', 'stalled', 'requeued')
  })
})

it('a job that undid its steps in good order has shown itself, although it ends by a crash', () => {
  const history = lost({ retry: { stalls: 1 } })
    .does({ type: 'requeue' })
    .starts()
  history.does({ type: 'record', fence: 'mine', step: { name: 'a', body: undefined, compensate: true } })
  history.after(31_000).ticks().gives('queued', 'stalled', 'compensating')
  history.starts().does({ type: 'compensated', fence: 'mine' })
  expect(history.record).toMatchObject({ state: 'dead_lettered', error: { code: 'E_CRASH' } })
  expect(runsApart(history.record)).toBe(false)
})

describe('a crash that its worker saw', () => {
  const crash = { type: 'fail', fence: 'mine', fault: { code: 'E_CRASH', message: 'SIGABRT' } } as const

  it('is a failure, and clears nobody', () => {
    const history = lost().does({ type: 'requeue' }).starts().does(crash)
    expect(history.record).toMatchObject({ state: 'retrying', failures: 1, lastFailure: { class: 'transient' } })
    expect(runsApart(history.record)).toBe(true)
    const first = given().starts().does(crash)
    expect(runsApart(first.record)).toBe(true)
    expect(crashedApart(first.record)).toBe(false)
  })

  it('is the end of the job once its budget is spent, and remembered should it be reopened', () => {
    for (const onExhausted of ['failed', 'dead_letter'] as const) {
      const history = given({ retry: { attempts: 1 }, onExhausted })
        .starts()
        .does(crash)
        .does({ type: 'reopen' })
      expect(runsApart(history.record)).toBe(true)
    }
  })
})
