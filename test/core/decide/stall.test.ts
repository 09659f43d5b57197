import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('stall', () => {
  it('needs an expired lease, and the fence that was judged', () => {
    const history = given().starts()
    history.when({ type: 'stall' }).refused('NOT_DUE')
    history.after(31_000).when({ type: 'stall', fence: '0.7.0123456789abcdef' }).refused('STALE_FENCE')
    history.when({ type: 'stall', fence: 'mine' }).gives('stalled', 'stalled')
    history.when({ type: 'stall' }).refused('ILLEGAL_TRANSITION')
  })

  it('lets another worker claim, with the next attempt', () => {
    const history = given().starts().after(31_000).does({ type: 'stall' })
    const old = history.fence
    history.claims('w2')
    expect(history.record).toMatchObject({ attempt: 2, stalls: 1, owner: { workerId: 'w2' } })
    expect(history.fence).not.toBe(old)
    history.when({ type: 'complete', fence: old }).refused('STALE_FENCE')
  })
})
