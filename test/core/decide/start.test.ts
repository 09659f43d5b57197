import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('start', () => {
  it('begins the attempt, by the clock of the store', () => {
    const history = given().claims().after(50)
    history.when({ type: 'start', fence: 'mine' }).gives('running', 'started')
    expect(history.record).toMatchObject({ startedAt: history.now, attempt: 1 })
  })

  it('said once more, under whatever request id, is answered as before', () => {
    given().starts().when({ type: 'start', fence: 'mine' }).replayed()
  })

  it('is implied when the outcome comes from claimed, with the real time inside', () => {
    const history = given().claims().after(50)
    history
      .when({ type: 'fail', fence: 'mine', fault: { code: 'x', message: '' }, startedAt: history.now - 40 })
      .gives('retrying', 'started', 'retry_scheduled')
    expect(history.events.at(-2)?.at).toBe(history.now - 40)
  })
})
