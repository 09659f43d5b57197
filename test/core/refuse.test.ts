import { describe, expect, it } from 'vitest'
import { refuse } from '../../src/core/refuse.ts'

describe('refusals', () => {
  it('say what is known, and nothing where nothing is', () => {
    expect(refuse('OVERLOADED', { jobId: 'pj_1', retryAfterMs: 5 })).toMatchObject({
      job: 'pj_1',
      retryAfterMs: 5,
      state: undefined,
    })
  })
})
