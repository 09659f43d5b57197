/** Words that nobody knows, where a caller says something by name: typing mistakes, in whose place a default would be silent. */
import { nearest } from './nearest.ts'
import type { Violation } from './refusal.ts'

/** How much is shown of a name that somebody made up. */
const SHOWN = 40

/** Every word of an interface, each once: one that is added there and not here does not compile. */
export const wordsOf = <T>(words: Readonly<Record<keyof T, true>>): readonly string[] => Object.keys(words)

/** What is undefined was not said. `field`: where it stands, if not at the top. */
export function unknownWords(given: object, known: readonly string[], field = ''): readonly Violation[] {
  const found: Violation[] = []
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue
    const near = nearest(name, known)
    const hint = near.length === 0 ? '' : `did you mean ${near.join(' or ')}? It `
    found.push({
      field: `${field === '' ? '' : `${field}.`}${name.slice(0, SHOWN)}`,
      rule: `${hint}must be one of ${known.join(', ')}`,
    })
  }
  return found
}
