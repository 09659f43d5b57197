import { describe, expect, it } from 'vitest'
import { attemptMs } from '../../src/core/attempt.ts'
import { evolve } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { given, type History, type Words } from './given.ts'

/** What the attempt took that this word ends. */
function took(history: History, words: Words | 'tick'): number | undefined {
  const before = history.record
  const { decision } = words === 'tick' ? history.ticks() : history.when(words)
  if (decision.kind !== 'accepted') throw new Error('not accepted')
  return attemptMs(decision.events, before, decision.job)
}

const complete = { type: 'complete', fence: 'mine' } as const

describe('how long an attempt took', () => {
  it('is what its worker says', () => {
    expect(took(given().starts().after(50), { ...complete, executionMs: 40 })).toBe(40)
  })

  it('is counted from its start where the worker says nothing, and 0 where both are one word', () => {
    expect(took(given().starts().after(50), complete)).toBe(50)
    expect(took(given().claims().after(50), complete)).toBe(0)
  })

  it('is nothing while it goes on, of one that never started, and of one that was lost', () => {
    expect(took(given().claims(), { type: 'start', fence: 'mine' })).toBeUndefined()
    expect(took(given().claims(), { type: 'release', fence: 'mine', reason: 'shutdown' })).toBeUndefined()
    expect(took(given().starts().after(60_000), 'tick')).toBeUndefined()
    const { events } = given()
    const job = events.reduce<Job | undefined>(evolve, undefined)
    expect(job && attemptMs(events, undefined, job)).toBeUndefined()
  })
})
