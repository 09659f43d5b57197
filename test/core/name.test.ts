import { describe, expect, it } from 'vitest'
import { isSegment } from '../../src/core/name.ts'
import { kindViolations } from '../../src/core/validate.ts'
import { kindOf } from './given.ts'

describe('names', () => {
  it('may be whatever a path can carry', () => {
    for (const name of ['a', 'a/b', 'mail.send', 'x.', '...', 'été 😀', '%2F']) expect(isSegment(name)).toBe(true)
    for (const name of ['', '.', '..', 'a\u0000', '\ud800', '😀\u007f', 'a\ud800\n'])
      expect(isSegment(name)).toBe(false)
  })

  it('of a kind are judged before any job has it, under their own names', () => {
    const { policy } = kindOf()
    expect(kindViolations({ tenant: 't', queue: 'q', type: 'a/b', policy })).toEqual([])
    expect(kindViolations({ tenant: '', queue: 'a,b', type: '..', policy: null }).map(({ field }) => field)).toEqual([
      'tenant',
      'queue',
      'type',
      'policy',
    ])
  })
})
