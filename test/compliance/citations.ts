/** Which test cites which rule. A rule is a line of a document, `000A:32`; a title cites it by that name. */
import { dirname } from 'node:path'
import { sources } from '../support/source.ts'

export interface Citation {
  readonly rule: string
  /** The file that runs the test, from the root of the repository. */
  readonly path: string
}

const RULE = /\b(?:000A|000B|001|002|003|004):\d+/g
const QUOTED = /'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g

/** What the strings of the tests cite; what a comment says is nobody's promise. */
export function citations(): readonly Citation[] {
  return sources('test/compliance/0*/*.ts').flatMap(({ path, code }) =>
    (code.match(QUOTED) ?? []).flatMap((text) => rulesIn(text).map((rule) => ({ rule, path: testOf(path) }))),
  )
}

export const rulesIn = (title: string): readonly string[] => title.match(RULE) ?? []

/** What is no test by itself is run by that of its document. */
const testOf = (path: string): string => (path.endsWith('.test.ts') ? path : `${dirname(path)}.test.ts`)
