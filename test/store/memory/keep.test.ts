import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keep } from '../../../src/store/memory/keep.ts'

describe('what is kept', () => {
  it('is equal to what was given, and frozen to the last leaf', () => {
    fc.assert(
      fc.property(fc.object({ key: fc.oneof(fc.string(), fc.constant('__proto__')) }), (given) => {
        const kept = keep(given)
        expect(kept).toEqual(given)
        expectFrozen(kept)
      }),
    )
  })

  it('is a copy: the giver may go on changing its own', () => {
    const given = { list: [1, { deep: 'a' }] }
    const kept = keep(given)
    given.list.push(2)
    Reflect.set(given.list[1] as object, 'deep', 'b')
    expect(kept).toEqual({ list: [1, { deep: 'a' }] })
    expect(Object.isFrozen(given)).toBe(false)
  })

  it('is shared when it is kept again', () => {
    const part = keep({ a: [1, 2] })
    const whole = keep({ part, other: 1 })
    expect(whole.part).toBe(part)
    expect(keep(whole)).toBe(whole)
  })

  it('takes a key called __proto__ for a key', () => {
    const given: unknown = JSON.parse('{"__proto__":{"x":1}}')
    const kept = keep(given) as object
    expect(Object.keys(kept)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
  })
})

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect(Object.isFrozen(value)).toBe(true)
  for (const each of Object.values(value)) expectFrozen(each)
}
