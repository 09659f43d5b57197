/** JSON as a hostile hand would write it: any white space, any escapes, equal names. */
import fc from 'fast-check'

const NUMBERS = ['0', '-0', '1e5', '-12.50E-3', '9007199254740993', '1.0', '123456789012345678901234567890']
export const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
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
export const name = fc.oneof(
  stringText,
  fc.constantFrom('"input"', '"\\u0069nput"', '"__proto__"', '""', '"constructor"'),
)

export const { value } = fc.letrec<{ value: string; members: string; elements: string }>((tie) => ({
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

/** What is hardly ever JSON, though it looks like it. */
export const noise = fc.oneof(
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          '"',
          '\\',
          ',',
          ':',
          ' ',
          '1',
          '-',
          '.',
          'e',
          '0',
          'a',
          'true',
          'nul',
          '\t',
        ),
        fc.constantFrom('\u0001', '\\u00', '\\x', '\u00a0', '\ufeff', '+', '01', '1.', '.5', '1e', '"a"', '"a":'),
        escaped,
      ),
    )
    .map((parts) => parts.join('')),
  value.map((text) => text.slice(0, -1)),
  fc.tuple(value, value).map(([a, b]) => a + b),
)
