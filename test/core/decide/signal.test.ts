import { describe, expect, it } from 'vitest'
import { SIZES } from '../../../src/core/limits.ts'
import { given } from '../given.ts'

const waiting = (words: object = {}) =>
  ({ type: 'wait', fence: 'mine', name: 'approved', timeoutMs: 1_000, ...words }) as const

describe('signal', () => {
  it.each([1_000, undefined])('wakes the job that waits for it (timeout %s)', (timeoutMs) => {
    const history = given()
      .starts()
      .does(waiting({ timeoutMs, memo: 'approved#1' }))
    const outcome = history.when({ type: 'signal', name: 'approved', body: { name: 'x', size: 4 } })
    outcome.gives('queued', 'signalled')
    expect(outcome.decision).toMatchObject({ bodies: [{ name: 'step/approved#1', text: '{"signal":1}' }] })
    expect(outcome.last.payload).toMatchObject({ signal: { n: 1, body: { name: 'signal/1', size: 4 } }, stored: false })
    expect(history.record).toMatchObject({ readyAt: history.now, signals: 1, inbox: [] })
  })

  it('is kept where it does not match, and taken from the inbox when somebody waits for it', () => {
    const history = given().starts().does(waiting())
    history.when({ type: 'signal', name: 'other' }).gives('waiting', 'signal_stored')
    history.when({ type: 'signal', name: 'approved', key: 'k' }).gives('waiting', 'signal_stored')
    history.does({ type: 'signal', name: 'approved' }).claims().does({ type: 'start', fence: 'mine' })
    const outcome = history.when(waiting({ key: 'k' }))
    outcome.gives('queued', 'waiting', 'signalled')
    expect(outcome.decision).toMatchObject({ bodies: [{ text: '{"signal":2}' }] })
    expect(history.record.inbox.map((signal) => signal.name)).toEqual(['other'])
  })

  it('that comes early is kept in any other live state, up to the limit', () => {
    const history = given()
    for (let i = 0; i < SIZES.inbox; i++) history.does({ type: 'signal', name: 's' })
    history.when({ type: 'signal', name: 's' }).refused('INBOX_FULL')
    expect(history.record.inbox).toHaveLength(SIZES.inbox)
  })
})
