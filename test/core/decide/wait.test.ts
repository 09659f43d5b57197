import { describe, expect, it } from 'vitest'
import { given, NONCE } from '../given.ts'

const waiting = (words: object = {}) =>
  ({ type: 'wait', fence: 'mine', name: 'approved', timeoutMs: 1_000, ...words }) as const

describe('wait', () => {
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
