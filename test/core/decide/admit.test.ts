import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('admit', () => {
  it('lets in what was kept out, no earlier than it was to run', () => {
    const history = given({ admission: true }, { runAt: 1_500_000 })
    history.when({ type: 'admit', rule: 'r1', policyHash: 'h' }).gives('queued', 'admitted')
    expect(history.record.readyAt).toBe(1_500_000)
  })

  it('is refused for what nobody kept out, and answered again where it was said', () => {
    const admit = { type: 'admit', rule: 'all', policyHash: 'p1' } as const
    given().when(admit).refused('ILLEGAL_TRANSITION')
    const admitted = given({ admission: true }).does(admit)
    expect(admitted.when(admit).decision.kind).toBe('replayed')
    admitted.claims().when(admit).refused('ILLEGAL_TRANSITION')
  })
})
