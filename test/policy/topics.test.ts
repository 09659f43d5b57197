import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patternRule, TopicIndex } from '../../src/policy/topics.ts'

/** The definition, word by word. */
function isFor(pattern: string, topic: string): boolean {
  const [first, ...patterns] = pattern.split('.')
  const [word, ...words] = topic.split('.')
  if (first === '>') return word !== undefined
  if (first === undefined || word === undefined) return first === word
  if (first !== '*' && first !== word) return false
  return patterns.length === 0 || words.length === 0
    ? patterns.length === words.length
    : isFor(patterns.join('.'), words.join('.'))
}

describe('patterns of topics', () => {
  it.each([
    ['job.chat.*', 'job.chat.simple', true],
    ['job.chat.*', 'job.chat', false],
    ['job.chat.*', 'job.chat.simple.fast', false],
    ['job.>', 'job.chat.simple', true],
    ['job.>', 'job', false],
    ['>', 'anything', true],
    ['job.*.simple', 'job.chat.simple', true],
    ['mail', 'mail', true],
    ['mail', 'mail.send', false],
  ])('%s and %s: %s', (pattern, topic, expected) => {
    const index = new TopicIndex<string>()
    index.add(pattern, 'it')
    expect(index.find(topic)).toEqual(expected ? ['it'] : [])
  })

  it('are found as the definition has it', () => {
    const word = fc.constantFrom('a', 'b', '*')
    const words = (last: fc.Arbitrary<string>) =>
      fc.tuple(fc.array(word, { maxLength: 3 }), last).map(([head, tail]) => [...head, tail].join('.'))
    fc.assert(
      fc.property(
        fc.array(words(fc.constantFrom('a', 'b', '*', '>')), { maxLength: 8 }),
        words(fc.constantFrom('a', 'b', 'c')),
        (patterns, topic) => {
          const index = new TopicIndex<string>()
          for (const pattern of patterns) index.add(pattern, pattern)
          expect([...index.find(topic)].sort()).toEqual(patterns.filter((pattern) => isFor(pattern, topic)).sort())
        },
      ),
    )
  })

  it.each([
    '',
    '.',
    'a..b',
    '.a',
    'a.',
    '>.a',
    'a*',
    'a.b>',
    'a\u0000',
    Array.from({ length: 13 }, () => 'a').join('.'),
  ])('%j is none', (text) => {
    expect(patternRule(text)).toBeTypeOf('string')
  })
})
