/**
 * A text of YAML as data, with the place of everything in it. YAML, because policies are written and reviewed by people, who comment,
 * and whose conditions are full of quotes; JSON is YAML, and is read by the same parser.
 */
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { z } from 'zod'
import { reasonOf } from '../core/reason.ts'

/** Something is wrong in a file, and where. */
export interface Fault {
  readonly file: string
  readonly line: number
  readonly column: number
  /** `rules[2].when`; absent where the text is no YAML. */
  readonly field: string | undefined
  readonly rule: string
}

export interface SourceFile {
  readonly name: string
  readonly text: string
}

export type Read<T> = { readonly value: T; readonly placeOf: PlaceOf } | { readonly faults: readonly Fault[] }
export type PlaceOf = (path: readonly PropertyKey[]) => Pick<Fault, 'line' | 'column'>

/** Letters of one file: 10,000 rules have about 2 million. */
const LETTERS_MOST = 8 * 1024 * 1024
const FAULTS_MOST = 100
/** Of what is wrong at one place: a list of thousands of names that nobody knows tells nothing more. */
const RULE_MOST = 500
/** How much aliases may multiply. */
const ALIASES_MOST = 100

export function read<Schema extends z.ZodType>(
  { name: file, text }: SourceFile,
  schema: Schema,
): Read<z.output<Schema>> {
  if (text.length > LETTERS_MOST)
    return { faults: [{ file, line: 1, column: 1, field: undefined, rule: `has more than ${LETTERS_MOST} letters` }] }
  const lines = new LineCounter()
  // Which names are there twice is looked at below: the parser compares each with all others, which takes minutes of a long map.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const fault = (offset: number, rule: string): Fault => ({ file, ...placeAt(lines, offset), field: undefined, rule })
  if (document.errors.length > 0)
    return { faults: document.errors.slice(0, FAULTS_MOST).map(({ pos, message }) => fault(pos[0], message)) }
  const twice = namedTwice(document)
  if (twice.length > 0) return { faults: twice.slice(0, FAULTS_MOST).map((offset) => fault(offset, TWICE)) }
  const placeOf: PlaceOf = (path) => {
    // What is missing has no place: where it should be does.
    for (let length = path.length; length > 0; length -= 1) {
      const found = document.getIn(path.slice(0, length), true)
      if (isNode(found) && found.range != null) return placeAt(lines, found.range[0])
    }
    return { line: 1, column: 1 }
  }
  let plain: unknown
  try {
    plain = document.toJS({ maxAliasCount: ALIASES_MOST })
  } catch (error) {
    return { faults: [fault(0, reasonOf(error))] }
  }
  const parsed = schema.safeParse(plain)
  if (parsed.success) return { value: parsed.data, placeOf }
  return {
    faults: parsed.error.issues.slice(0, FAULTS_MOST).map(({ path, message }) => ({
      file,
      ...placeOf(path),
      field: fieldOf(path),
      rule: message.slice(0, RULE_MOST),
    })),
  }
}

const TWICE = 'Map keys must be unique'

/** Where a name stands that its map has had before. */
function namedTwice(document: Document.Parsed): readonly number[] {
  const found: number[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : undefined
        if (name === undefined) continue
        if (seen.has(name)) found.push(isNode(key) ? (key.range?.[0] ?? 0) : 0)
        seen.add(name)
      }
    },
  })
  return found
}

function placeAt(lines: LineCounter, offset: number): Pick<Fault, 'line' | 'column'> {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

const fieldOf = (path: readonly PropertyKey[]): string | undefined =>
  path.length === 0
    ? undefined
    : path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`)).join('')

/** As compilers say it: `policies/chat.yaml:12:5 rules[0].when: …`. */
export const faultText = ({ file, line, column, field, rule }: Fault): string =>
  `${file}:${line}:${column} ${field === undefined ? '' : `${field}: `}${rule}`
