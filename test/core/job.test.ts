import { describe, expect, it } from 'vitest'
import {
  deadLetterStates,
  LIVE_STATES,
  liveStateOf,
  RANK,
  SUCCESSFUL_STATES,
  TERMINAL_STATES,
  UNSUCCESSFUL_STATES,
} from '../../src/core/job.ts'
import { MACHINE, statesLedTo } from '../../src/core/transitions.ts'

it.each(LIVE_STATES)('the rank of %s tells the state', (state) => {
  expect(liveStateOf(RANK[state])).toBe(state)
})

it('no state is told by the rank that all ends share, or by none', () => {
  expect(() => liveStateOf(RANK.succeeded)).toThrow('rank')
  expect(() => liveStateOf(undefined)).toThrow('rank')
})

it('an end is a success or it is not', () => {
  expect(new Set([...SUCCESSFUL_STATES, ...UNSUCCESSFUL_STATES])).toEqual(new Set(TERMINAL_STATES))
  expect(SUCCESSFUL_STATES).toEqual(['succeeded'])
  expect(UNSUCCESSFUL_STATES).not.toContain('succeeded')
})

it('dead letters are what was put aside, and failures only for whoever asks for them', () => {
  expect(deadLetterStates(false)).toEqual(['dead_lettered'])
  expect(deadLetterStates(true)).toEqual(['dead_lettered', 'failed'])
})

describe('where a commit may have led that has an event in it', () => {
  it('is wherever a move with that event leads, and what may be said in the same breath', () => {
    expect(statesLedTo('dead_lettered')).toEqual(['dead_lettered'])
    expect(new Set(statesLedTo('parked'))).toEqual(
      new Set(['parked', 'queued', 'cancelled', 'timed_out', 'dead_lettered', 'denied']),
    )
    for (const row of Object.values(MACHINE))
      for (const { events, to } of Object.values(row).flat())
        for (const type of events) expect(statesLedTo(type), type).toContain(to)
  })
})
