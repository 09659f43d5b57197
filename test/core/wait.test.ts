import { describe, expect, it } from 'vitest'
import { SIZES } from '../../src/core/limits.ts'
import { given, NONCE } from './given.ts'

const waiting = (words: object = {}) =>
  ({ type: 'wait', fence: 'mine', name: 'approved', timeoutMs: 1_000, ...words }) as const

describe('waiting', () => {
  it('drops owner and lease, and is never reclaimed', () => {
    const history = given().starts()
    history.when(waiting()).gives('waiting', 'waiting')
    expect(history.record).toMatchObject({ owner: undefined, lease: undefined, readyAt: undefined })
    history.after(999)
    expect(history.isDue).toBe(false)
    history.when({ type: 'claim', workerId: 'w2', nonce: NONCE }).refused('ILLEGAL_TRANSITION')
    history.when({ type: 'stall' }).refused('ILLEGAL_TRANSITION')
  })

  it('is parked at once when it is long or endless', () => {
    const parked = given({ parkAfter: '1m' }).starts()
    parked.when(waiting({ timeoutMs: 60_001 })).gives('parked', 'waiting', 'parked')
    given()
      .starts()
      .when(waiting({ timeoutMs: undefined }))
      .gives('parked', 'waiting', 'parked')
    given({ parkAfter: '1m' })
      .starts()
      .when(waiting({ timeoutMs: 60_000 }))
      .gives('waiting', 'waiting')
  })

  it.each([1_000, undefined])('is woken by its signal (timeout %s)', (timeoutMs) => {
    const history = given()
      .starts()
      .does(waiting({ timeoutMs, memo: 'approved#1' }))
    const outcome = history.when({ type: 'signal', name: 'approved', body: { name: 'x', size: 4 } })
    outcome.gives('queued', 'signalled')
    expect(outcome.decision).toMatchObject({ bodies: [{ name: 'step/approved#1', text: '{"signal":1}' }] })
    expect(outcome.last.payload).toMatchObject({ signal: { n: 1, body: { name: 'signal/1', size: 4 } }, stored: false })
    expect(history.record).toMatchObject({ readyAt: history.now, signals: 1, inbox: [] })
  })

  it('keeps a signal that does not match, and takes it from the inbox when somebody waits for it', () => {
    const history = given().starts().does(waiting())
    history.when({ type: 'signal', name: 'other' }).gives('waiting', 'signal_stored')
    history.when({ type: 'signal', name: 'approved', key: 'k' }).gives('waiting', 'signal_stored')
    history.does({ type: 'signal', name: 'approved' }).claims().does({ type: 'start', fence: 'mine' })
    const outcome = history.when(waiting({ key: 'k' }))
    outcome.gives('queued', 'waiting', 'signalled')
    expect(outcome.decision).toMatchObject({ bodies: [{ text: '{"signal":2}' }] })
    expect(history.record.inbox.map((signal) => signal.name)).toEqual(['other'])
  })

  it('keeps early signals in any other live state, up to the limit', () => {
    const history = given()
    for (let i = 0; i < SIZES.inbox; i++) history.does({ type: 'signal', name: 's' })
    history.when({ type: 'signal', name: 's' }).refused('INBOX_FULL')
    expect(history.record.inbox).toHaveLength(SIZES.inbox)
  })

  it('resumes, marked as timed out, when its time is over', () => {
    const history = given().starts().does(waiting()).after(1_000)
    const outcome = history.ticks()
    outcome.gives('queued', 'wait_timed_out')
    expect(outcome.decision).toMatchObject({ bodies: [{ name: 'step/approved', text: '{"timedOut":true}' }] })
  })

  it('ends the job instead where the policy says so, unless the wait says otherwise', () => {
    given({ onWaitTimeout: 'timed_out' }).starts().does(waiting()).after(1_000).ticks().gives('timed_out', 'timed_out')
    given({ onWaitTimeout: 'timed_out' })
      .starts()
      .does(waiting({ onTimeout: 'resume' }))
      .after(1_000)
      .ticks()
      .gives('queued', 'wait_timed_out')
  })

  it('is over when the job deadline passes', () => {
    given({ deadline: '2s' })
      .starts()
      .does(waiting({ timeoutMs: undefined }))
      .after(2_000)
      .ticks()
      .gives('timed_out', 'timed_out')
  })
})
