import { describe, expect, it } from 'vitest'
import { wasLetIn } from '../../src/core/admission.ts'
import { type Job, STATES, type State } from '../../src/core/job.ts'
import { HISTORIES } from './sample.ts'

describe('what a record tells of its admission', () => {
  const of = (state: State, attempt: number) => wasLetIn({ ...HISTORIES[state]().job, attempt } as Job)

  it('is open while it is pending, and unknown of what ended before anybody claimed it', () => {
    expect(of('pending', 0)).toBeUndefined()
    expect(of('cancelled', 0)).toBeUndefined()
    expect(of('timed_out', 0)).toBeUndefined()
  })

  it('is a denial or that it was let in', () => {
    expect(of('denied', 0)).toBe(false)
    expect(of('queued', 0)).toBe(true)
    const told = STATES.filter((state) => state !== 'denied').map((state) => of(state, 1))
    expect(new Set(told)).toEqual(new Set([true]))
  })
})
