/** No line of a document is passed over: a test cites it, or docs/dialects.md says why none does. */
import { describe, expect, it } from 'vitest'
import { UNHELD } from '../../src/core/dialects/unheld.ts'
import { citations } from './citations.ts'
import { LINES, numbersIn, RULES } from './lines.ts'
import { MUTANTS } from './mutants/mutants.ts'

const cited = new Set(citations().map(({ rule }) => rule))
const isHeld = (rule: string): boolean => UNHELD.every((line) => line.rule !== rule || line.partly)

describe('the lines of the documents', () => {
  it.each(Object.entries(LINES))('each line of %s is a rule, context or form, and nothing else', (_, lines) => {
    const { first, last, rules, context, form } = lines
    const all = [rules, context, form].flatMap(numbersIn).sort((a, b) => a - b)
    expect(all).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i))
  })

  it('every rule is cited by a test, or stand in docs/dialects.md with the reason why not', () => {
    expect(RULES.filter((rule) => !cited.has(rule))).toEqual(RULES.filter((rule) => !isHeld(rule)))
  })

  it('what tests cite, or docs/dialects.md has reasons for, is a rule', () => {
    expect([...cited, ...UNHELD.map(({ rule }) => rule)].filter((rule) => !RULES.includes(rule))).toEqual([])
  })

  it('every rule that tests hold pawl to is broken by two mutants', () => {
    const broken = MUTANTS.flatMap(({ rules }) => rules)
    const count = (rule: string) => broken.filter((each) => each === rule).length
    expect(RULES.filter((rule) => isHeld(rule) && count(rule) < 2)).toEqual([])
  })
})
