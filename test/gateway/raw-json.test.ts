/** What is cut out of a text must be what a parser finds there: for every text, however it is written. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementsOf, membersOf } from '../../src/gateway/contract/raw-json.ts'
import { scaled } from '../support/scale.ts'
import { name, noise, space, value } from './hostile-json.ts'

const runs = { numRuns: scaled(2_000, 100_000) }

describe('members and elements', () => {
  // What was written is known here, name by name: Node 24.9's JSON.parse itself mistakes escaped names once it is warm
  // (`{"__proto__":[],"\\u0069":[]}` comes back with a key `\\`), so it cannot be asked about whole objects.
  it('are those that were written, the last of equal names', () => {
    const written = fc.array(fc.tuple(space, name, space, space, value, space), { maxLength: 4 })
    fc.assert(
      fc.property(space, written, space, (before, parts, after) => {
        const text = `{${parts.map(([a, n, b, c, v, d]) => `${a + n + b}:${c}${v}${d}`).join(',')}}`
        const expected = new Map(parts.map(([, n, , , v]) => [JSON.parse(n) as string, v.trim()]))
        expect(membersOf(before + text + after)).toEqual(expected)
      }),
      runs,
    )
  })

  it('are those that were written, in order', () => {
    fc.assert(
      fc.property(space, fc.array(fc.tuple(space, value, space), { maxLength: 4 }), space, (before, parts, after) => {
        const text = `[${parts.map((part) => part.join('')).join(',')}]`
        expect(elementsOf(before + text + after)).toEqual(parts.map(([, v]) => v.trim()))
      }),
      runs,
    )
  })

  it('come to an end for any text at all', () => {
    fc.assert(
      fc.property(noise, (text) => {
        expect(elementsOf(text).length).toBeLessThanOrEqual(text.length)
        expect(membersOf(text).size).toBeLessThanOrEqual(text.length)
      }),
      runs,
    )
    expect(elementsOf('['.repeat(2_000_000))).toEqual([])
    expect(membersOf(`{"a":"${'\\"'.repeat(1_000_000)}`).size).toBe(0)
  })
})
