import { describe, expect, it } from 'vitest'
import { speaksAsOwner } from '../../src/core/ownership.ts'
import { given } from './given.ts'

const asked = { actor: 'a', requestId: 'r' } as const

const fence = '0.1.0123456789abcdef'

it('an owner speaks under its fence, others without one; a reaper names somebody else’s', () => {
  expect(speaksAsOwner({ ...asked, type: 'complete', fence })).toBe(true)
  expect(speaksAsOwner({ ...asked, type: 'cancel', mode: 'hard', fence })).toBe(true)
  expect(speaksAsOwner({ ...asked, type: 'cancel', mode: 'hard' })).toBe(false)
  expect(speaksAsOwner({ ...asked, type: 'cancel', mode: 'hard', fence: undefined })).toBe(false)
  expect(speaksAsOwner({ ...asked, type: 'stall', fence })).toBe(false)
  expect(speaksAsOwner({ ...asked, type: 'requeue' })).toBe(false)
})

describe('fences', () => {
  it('are opaque and compared whole; only attempts that existed are noted', () => {
    const history = given().starts()
    const noted = (fence: string) => {
      const { decision } = history.when({ type: 'complete', fence })
      return decision.kind === 'refused' && decision.refusal.code === 'STALE_FENCE' && decision.annotation !== undefined
    }
    expect(noted('0.1.0123456789abcdee')).toBe(true)
    for (const fence of [
      'x',
      '0.2.0123456789abcdef',
      '1.1.0123456789abcdef',
      '0.0.0123456789abcdef',
      `${history.fence} `,
    ])
      expect(noted(fence)).toBe(false)
  })

  it('tell who owns the job now', () => {
    const outcome = given()
      .claims('worker-7')
      .when({ type: 'start', fence: '0.1.fedcba9876543210', correlationId: 'c' })
    outcome.refused('STALE_FENCE')
    expect(outcome.decision).toMatchObject({
      refusal: { owner: 'worker-7', job: 'pj_1', state: 'claimed', command: 'start' },
      annotation: { correlationId: 'c' },
    })
  })
})
