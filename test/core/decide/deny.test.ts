import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('deny', () => {
  it('ends a job that nobody has let in, with the verdict', () => {
    const history = given({ admission: true })
    history.when({ type: 'deny', rule: 'r', policyHash: 'h', reason: 'no budget' }).gives('denied', 'denied')
    expect(history.events.at(-1)?.payload).toMatchObject({
      verdict: { rule: 'r', policyHash: 'h', reason: 'no budget' },
    })
  })

  it('comes too late for a job that was ever claimed', () => {
    given().when({ type: 'deny', rule: 'r', policyHash: 'h' }).gives('denied', 'denied')
    given()
      .starts()
      .does({ type: 'release', fence: 'mine', reason: 'handed_back' })
      .when({ type: 'deny', rule: 'r', policyHash: 'h' })
      .refused('ILLEGAL_TRANSITION')
  })
})
