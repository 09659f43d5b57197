/**
 * What an edition was: its SQL (`schema.sql`), and what a process of its time said to it and heard (`calls.jsonl`, a call a
 * line; their texts by name in `statements.json`). Cut by `node scripts/edition.ts`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

export interface Edition {
  readonly number: number
  readonly schema: string
  /** By name. */
  readonly statements: Readonly<Record<string, string>>
  readonly calls: readonly Call[]
}

/** Whose connection it came over: a caller's transaction and the one that listens are sessions of their own. */
export type Session = 'store' | 'caller' | 'listener'

export type Call = readonly [
  /** The server's clock. */
  at: number,
  session: Session,
  statement: string,
  values: readonly unknown[],
  answer: Answer,
]

/** Rows, or the code of the error. */
export type Answer = readonly (readonly unknown[])[] | string

export const FOLDER = 'test/store/postgres/editions'

export function editionNumbers(): readonly number[] {
  const names = readdirSync(FOLDER).filter((name) => /^\d+$/.test(name))
  return names.map(Number).sort((a, b) => a - b)
}

export function hasEdition(number: number): boolean {
  return existsSync(`${FOLDER}/${number}`)
}

export function readEdition(number: number): Edition {
  const text = (name: string) => readFileSync(`${FOLDER}/${number}/${name}`, 'utf8')
  const lines = text('calls.jsonl').trimEnd().split('\n')
  const calls = lines.map((line) => withValues(JSON.parse(line) as Call, fromText))
  return { number, schema: text('schema.sql'), statements: JSON.parse(text('statements.json')), calls }
}

export function writeEdition({ number, schema, statements, calls }: Edition): void {
  const folder = `${FOLDER}/${number}`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/schema.sql`, schema)
  writeFileSync(`${folder}/statements.json`, `${JSON.stringify(statements, undefined, 2)}\n`)
  writeFileSync(`${folder}/calls.jsonl`, calls.map((call) => `${JSON.stringify(withValues(call, asText))}\n`).join(''))
}

/** Some lists are sent as bytes. */
const asText = (value: unknown): unknown => (Buffer.isBuffer(value) ? { base64: value.toString('base64') } : value)

const fromText = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'base64' in value ? Buffer.from(String(value.base64), 'base64') : value

const withValues = ([at, session, statement, values, answer]: Call, as: (value: unknown) => unknown): Call => [
  at,
  session,
  statement,
  values.map(as),
  answer,
]

/** What each function is called with and answers, by its name: all that stands before its language. */
export function signaturesIn(schema: string): ReadonlyMap<string, string> {
  const made = schema.matchAll(/^create or replace function "pawl"\.(\w+)(\([\s\S]*?)\s+language\b/gm)
  return new Map(Array.from(made, ([, name = '', rest = '']) => [name, rest.replaceAll(/\s+/g, ' ')]))
}

/** Functions that promise no order of their rows, in which they come as the tables happen to have them. */
export function unorderedIn(schema: string): ReadonlySet<string> {
  const made = schema.matchAll(/^create or replace function "pawl"\.(\w+)\(([\s\S]*?)\$\$([\s\S]*?)\$\$/gm)
  return new Set(Array.from(made).flatMap(([, name = '', , body = '']) => (/\border by\b/i.test(body) ? [] : [name])))
}

/** Functions of one edition that are called otherwise in another, or answer otherwise. */
export function changedSignatures(before: string, after: string): readonly string[] {
  const now = signaturesIn(after)
  return [...signaturesIn(before)]
    .filter(([name, signature]) => now.has(name) && now.get(name) !== signature)
    .map(([name]) => name)
}
