import { describe, expect, it } from 'vitest'
import { given } from './given.ts'

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
