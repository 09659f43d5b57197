import { describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/core/reason.ts'
import {
  LeaseConflictError,
  PermanentError,
  ThrottledError,
  TransientError,
  ValidationError,
} from '../../src/core/thrown.ts'

describe('what handlers throw', () => {
  it.each([
    [new TransientError('x'), 'transient', 'transient'],
    [new PermanentError('x'), 'permanent', 'permanent'],
    [new ValidationError('x'), 'validation', 'validation_failed'],
    [new ThrottledError('x'), 'throttled', 'throttled'],
    [new LeaseConflictError('x'), 'lease', 'lease_expired'],
  ] as const)('%s is a fault of its class', (error, errorClass, code) => {
    expect(error).toMatchObject({ errorClass, code, message: 'x' })
    expect(error.name).toBe(error.constructor.name)
  })

  it('carries code, stage, context, cause and the earliest time of a retry', () => {
    const cause = new Error('socket')
    const options = {
      code: 'E_429_RATE',
      stage: 'fetch',
      context: { domain: 'x.org' },
      retryAfterMs: 5,
      cause,
    } as const
    const error = new ThrottledError('slow down', options)
    expect(error.cause).toBe(cause)
    expect(error).toMatchObject({
      errorClass: 'throttled',
      code: 'E_429_RATE',
      message: 'slow down',
      stage: 'fetch',
      context: { domain: 'x.org' },
      retryAfterMs: 5,
    })
  })
})

it('a reason that is promised in vain is a few words, and no error that nobody has caught', async () => {
  const broken = { message: Promise.reject(new Error('the connection is gone')) }
  expect(reasonOf(broken)).toBe('[object Promise]')
  await expect(broken.message).rejects.toThrow('gone')
})
