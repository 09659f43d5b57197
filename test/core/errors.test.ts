import { describe, expect, it } from 'vitest'
import { CODE_MEANS, classify, DEFAULT_ERRORS } from '../../src/core/errors.ts'
import { kindOf } from './given.ts'

describe('classification', () => {
  const { policy } = kindOf({ errors: { E_BROWSER: 'permanent', mine: 'validation' } })

  it('asks the job type first, then the error, then the table, and is transient otherwise', () => {
    expect(classify(policy, { code: 'E_BROWSER', class: 'transient' })).toBe('permanent')
    expect(classify(policy, { code: 'E_ROBOTS', class: 'transient' })).toBe('transient')
    expect(classify(policy, { code: 'E_ROBOTS' })).toBe('permanent')
    expect(classify(policy, { code: 'whatever' })).toBe('transient')
    expect(classify(policy, { code: 'toString' })).toBe('transient')
    expect(classify(policy, { code: 'mine' })).toBe('validation')
  })

  it('gives a code the class of the words it stands for', () => {
    for (const [code, words] of Object.entries(CODE_MEANS))
      expect(DEFAULT_ERRORS.get(code)).toBe(DEFAULT_ERRORS.get(words))
  })
})
