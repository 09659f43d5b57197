/** The mutants themselves: whether they could be applied and what for. That each is killed is `mutants/run.ts`. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RULES } from './lines.ts'
import { MUTANTS } from './mutants/mutants.ts'

describe('mutants of the documents', () => {
  it('every mutant has a name of its own', () => {
    const names = MUTANTS.map(({ name }) => name)
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  })

  it('a mutant breaks rules of one document', () => {
    expect(MUTANTS.flatMap(({ rules }) => rules).filter((rule) => !RULES.includes(rule))).toEqual([])
    expect(MUTANTS.filter(({ rules }) => new Set(rules.map((rule) => rule.split(':')[0])).size !== 1)).toEqual([])
  })

  it('a mutant changes one place of a source, and does change it', () => {
    const texts = new Map<string, string>()
    const places = (file: string, find: string): number => {
      const text = texts.get(file) ?? readFileSync(`src/${file}`, 'utf8')
      texts.set(file, text)
      return text.split(find).length - 1
    }
    const patches = MUTANTS.flatMap(({ name, patches }) => patches.map((patch) => ({ name, ...patch })))
    expect(patches.filter(({ file, find }) => places(file, find) !== 1)).toEqual([])
    expect(patches.filter(({ find, replace }) => find === replace)).toEqual([])
  })
})
