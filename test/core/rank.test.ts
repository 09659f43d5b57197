import { expect, it } from 'vitest'
import { LIVE_STATES, liveStateOf, RANK } from '../../src/core/job.ts'

it.each(LIVE_STATES)('the rank of %s tells the state', (state) => {
  expect(liveStateOf(RANK[state])).toBe(state)
})

it('no state is told by the rank that all ends share, or by none', () => {
  expect(() => liveStateOf(RANK.succeeded)).toThrow('rank')
  expect(() => liveStateOf(undefined)).toThrow('rank')
})
