/**
 * Which test cites which rule. A rule is a line of a document, `000A:32`; a title cites it by that name, or in a range of
 * lines that are one statement, `001:36–38`.
 */
import { dirname } from 'node:path'
import { sources } from '../support/source.ts'

export interface Citation {
  /** As it stands in the title: `001:36–38`. */
  readonly words: string
  readonly rules: readonly string[]
  /** The file that runs it, from the root of the repository. */
  readonly path: string
}

const CITATION = /\b(000A|000B|001|002|003|004):(\d+)(?:–(\d+))?/g
const QUOTED = /'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g

/** What the strings of the tests cite; what a comment says is nobody's promise. */
export function citations(): readonly Citation[] {
  return sources('test/compliance/0*/*.ts').flatMap(({ path, code }) =>
    (code.match(QUOTED) ?? []).flatMap((text) =>
      [...text.matchAll(CITATION)].map(([words, document, first, last = first]) => ({
        words,
        rules: Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${document}:${Number(first) + i}`),
        path: testOf(path),
      })),
    ),
  )
}

/** What is no test by itself is run by that of its document. */
const testOf = (path: string): string => (path.endsWith('.test.ts') ? path : `${dirname(path)}.test.ts`)
