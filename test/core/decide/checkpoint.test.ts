import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('checkpoint', () => {
  it('keeps the last one for the next attempt', () => {
    const checkpoint = (size: number) =>
      ({ type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size } }) as const
    const history = given().starts().does(checkpoint(1), checkpoint(2)).fails()
    expect(history.record).toMatchObject({ state: 'retrying', checkpoint: { size: 2 } })
    history.after(120_000).claims('w2')
    expect(history.record).toMatchObject({ attempt: 2, checkpoint: { size: 2 } })
  })

  it('is the owner’s alone', () => {
    given()
      .starts()
      .when({ type: 'checkpoint', fence: '0.1.fedcba9876543210', body: { name: 'checkpoint', size: 1 } })
      .refused('STALE_FENCE')
  })
})
