/** What is cut out of a text must be what a parser finds there: for every text, however it is written. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementsOf, membersOf, shapeOf } from '../../src/gateway/contract/raw-json.ts'
import { scaled } from '../support/scale.ts'

const NUMBERS = ['0', '-0', '1e5', '-12.50E-3', '9007199254740993', '1.0', '123456789012345678901234567890']
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const escaped = fc.constantFrom(
  '\\u0069',
  '\\"',
  '\\\\',
  '\\/',
  '\\n',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'é',
  '\u2028',
  'a',
)
const stringText = fc.array(escaped, { maxLength: 6 }).map((parts) => `"${parts.join('')}"`)
const name = fc.oneof(stringText, fc.constantFrom('"input"', '"\\u0069nput"', '"__proto__"', '""', '"constructor"'))

/** JSON as a hostile hand would write it: any white space, any escapes, equal names. */
const { value } = fc.letrec<{ value: string; members: string; elements: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', 'false', ...NUMBERS),
    stringText,
    tie('members'),
    tie('elements'),
  ),
  members: fc
    .array(fc.tuple(space, name, space, space, tie('value'), space), { maxLength: 4 })
    .chain((parts) =>
      space.map((s) => `{${parts.map(([a, n, b, c, v, d]) => `${a + n + b}:${c}${v}${d}`).join(',') || s}}`),
    ),
  elements: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
    .chain((parts) => space.map((s) => `[${parts.map((part) => part.join('')).join(',') || s}]`)),
}))

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
    const noise = fc.array(fc.oneof(fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', '1', 'a'), escaped))
    fc.assert(
      fc.property(
        fc.oneof(
          noise.map((parts) => parts.join('')),
          value.map((text) => text.slice(0, -1)),
        ),
        (text) => {
          shapeOf(text)
          expect(elementsOf(text).length).toBeLessThanOrEqual(text.length)
          try {
            membersOf(text)
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError)
          }
        },
      ),
      runs,
    )
  })
})

describe('the shape', () => {
  it('counts depth and keys as a parser would', () => {
    const depthOf = (it: unknown): number =>
      typeof it === 'object' && it !== null ? 1 + Math.max(0, ...Object.values(it).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue(), (it) => {
        const text = JSON.stringify(it)
        let keys = 0
        JSON.parse(text, function (this: unknown, key, inner) {
          if (key !== '' || !Array.isArray(this)) keys += Array.isArray(this) ? 0 : 1
          return inner
        })
        // The reviver sees the whole as a member of its own.
        expect(shapeOf(text)).toEqual({ depth: depthOf(it), keys: keys - 1 })
      }),
      runs,
    )
  })

  it('is found in time that grows with the text and no faster', () => {
    const deep = '['.repeat(2_000_000)
    expect(shapeOf(deep).depth).toBe(2_000_000)
    expect(elementsOf(deep)).toHaveLength(1)
    expect(membersOf(`{"a":"${'\\"'.repeat(1_000_000)}`).size).toBe(1)
  })
})
