import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX, JSON_LENGTH_MAX, toJson } from '../../src/core/json.ts'

const text = (value: unknown): string | undefined => {
  const json = toJson(value, 'input')
  if (!json.ok) throw new Error(JSON.stringify(json.violations))
  return json.text
}
const refused = (value: unknown): readonly (readonly [string, string])[] => {
  const json = toJson(value, 'input')
  return json.ok ? [] : json.violations.map(({ field, rule }) => [field, rule] as const)
}

describe('values as text', () => {
  it('writes what JSON writes, for whatever JSON keeps', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = text({ value })
        expect(JSON.parse(written ?? '')).toEqual({ value })
      }),
    )
  })

  it('keeps the sign of zero', () => {
    expect(text({ a: [-0, 1, 'x', true, null, { b: 'y' }] })).toBe('{"a":[-0,1,"x",true,null,{"b":"y"}]}')
    expect(Object.is(JSON.parse(text(-0) ?? ''), -0)).toBe(true)
  })

  it('knows nothing from something', () => {
    expect(text(undefined)).toBeUndefined()
    expect(text(null)).toBe('null')
    expect(text({ a: undefined, b: 1 })).toBe('{"b":1}')
    expect(text({ a: undefined, b: -0 })).toBe('{"b":-0}')
  })

  it('lets things speak for themselves', () => {
    expect(text({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
    class Money {
      cents = 5
    }
    expect(text(new Money())).toBe('{"cents":5}')
    expect(text([Object(1), Object('a'), Object(false)])).toBe('[1,"a",false]')
    expect(text({ toJSON: 5, x: 1 })).toBe('{"toJSON":5,"x":1}')
  })

  it.each([
    ['NaN', { a: [1, Number.NaN] }, 'input.a.1', /NaN/],
    ['infinity', { a: Number.NEGATIVE_INFINITY }, 'input.a', /-Infinity/],
    ['a bigint', { a: { b: 1n } }, 'input.a.b', /bigint/],
    ['a function', { f: () => 1 }, 'input.f', /function/],
    ['a symbol', [Symbol('x')], 'input.0', /symbol/],
    ['undefined among others', [1, undefined], 'input.1', /undefined/],
    ['a hole', Array(1), 'input.0', /undefined/],
    ['a map', { m: new Map([[1, 2]]) }, 'input.m', /Map/],
    ['bytes', new Uint8Array(2), 'input', /typed array/],
    ['an error', { e: new Error('x') }, 'input.e', /Error/],
  ])('refuses %s and says where', (_, value, place, rule) => {
    expect(refused(value)).toEqual([[place, expect.stringMatching(rule)]])
  })

  it('names every place, up to a point', () => {
    expect(refused([Number.NaN, 1n])).toHaveLength(2)
    expect(refused(Array(1000).fill(Number.NaN))).toHaveLength(100)
  })

  it('refuses cycles, bottomless values and what cannot be read', () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = { loop }
    expect(refused(loop)).toEqual([['input.self.loop', expect.stringMatching(/cycle/)]])
    let deep: unknown = 1
    for (let n = 0; n < JSON_DEPTH_MAX; n += 1) deep = [deep]
    expect(text(deep)).toHaveLength(2 * JSON_DEPTH_MAX + 1)
    expect(refused([deep])[0]?.[1]).toMatch(/levels/)
    const trap = (error: unknown) => ({
      get a() {
        throw error
      },
    })
    expect(refused(trap(new Error('no')))).toEqual([['input', 'could not be read: no']])
    expect(refused(trap('no'))).toEqual([['input', 'could not be read: no']])
    expect(refused('x'.repeat(JSON_LENGTH_MAX))[0]?.[1]).toMatch(/at most/)
  })
})
