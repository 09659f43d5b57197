import { expect, it } from 'vitest'
import { speaksAsOwner } from '../../src/core/ownership.ts'

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
