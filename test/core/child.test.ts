import { describe, expect, it } from 'vitest'
import { childEnded } from '../../src/core/child.ts'
import { given } from './given.ts'

describe('children', () => {
  it('signal their parent when they end, once per generation', () => {
    const child = given({}, { parentId: 'pj_9' })
    expect(childEnded(child.record)).toBeUndefined()
    expect(childEnded(child.does({ type: 'cancel', mode: 'hard' }).record)).toMatchObject({
      parentId: 'pj_9',
      signal: { requestId: 'child/pj_1/0', name: 'child_ended', key: 'pj_1' },
    })
    expect(childEnded(given().does({ type: 'cancel', mode: 'hard' }).record)).toBeUndefined()
  })
})
