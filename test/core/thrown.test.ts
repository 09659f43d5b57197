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
  expect(reasonOf(broken)).toBe('something that is no error (object)')
  await expect(broken.message).rejects.toThrow('gone')
})

it('a reason is no text that is made by what was thrown', () => {
  const asked: string[] = []
  const speak = () => String(asked.push('toString'))
  for (const thrown of [
    { toString: speak },
    { message: { toString: speak } },
    Object.assign(() => {}, { toString: speak }),
  ]) {
    expect(reasonOf(thrown)).toMatch(/^something that is no error/)
  }
  expect(asked).toEqual([])
  expect(reasonOf({ message: 'text' })).toBe('text')
  expect(reasonOf(undefined)).toBe('undefined')
})
