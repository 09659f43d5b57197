import { expect, it } from 'vitest'
import { atRest } from '../../../src/core/flow/key.ts'
import { HEARD_MS } from '../../../src/core/flow/numbers.ts'
import { isQuiet, QUIET_MS } from '../../../src/core/flow/quiet.ts'

const NOTHING = { taken: 0, takenSince: 0, started: 0, oldestStart: undefined, spent: 0 } as const
const LONG_AGO = 1_000
const NOW = LONG_AGO + QUIET_MS + HEARD_MS
const rested = { declared: { concurrency: 2 }, byHand: undefined, record: { ...atRest('k'), rev: 7, since: LONG_AGO } }

it('a key is quiet that is open, unused, and of which nothing was learnt or set for a day', () => {
  expect(isQuiet(rested, NOTHING, NOW)).toBe(true)
  expect(isQuiet(rested, NOTHING, NOW - 1)).toBe(false)
  expect(isQuiet({ ...rested, byHand: { weight: 2 } }, NOTHING, NOW)).toBe(false)
  for (const count of [{ taken: 1 }, { started: 1 }, { spent: 0.5 }])
    expect(isQuiet(rested, { ...NOTHING, ...count }, NOW)).toBe(false)
  for (const record of [
    { state: 'slow' },
    { state: 'broken' },
    { strikes: 1, struckAt: 0 },
    { freshFrom: LONG_AGO + 1 },
    { struckAt: LONG_AGO + 1 },
    { stepAt: LONG_AGO + 1 },
    { heardAt: LONG_AGO + 1 },
  ] as const)
    expect(isQuiet({ ...rested, record: { ...rested.record, ...record } }, NOTHING, NOW)).toBe(false)
})
