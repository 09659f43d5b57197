/** The tables: numbered files that are applied once each, in order, and never change. */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import type { Blueprint } from './blueprint.ts'
import { sqlFiles } from './files.ts'
import { inSchema } from './identifiers.ts'
import { STORE } from './store.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  /** The text, for the schema asked for. */
  readonly sql: string
  readonly checksum: string
  /** Code that does not know the migration of this number cannot go on once this one is applied; 0: all can. */
  readonly needs: number
}

/** The table that says how far a schema has come: there before the first migration. */
const FIRST = 'migration'

export function migrations(schema: string, blueprint: Blueprint = STORE): readonly Migration[] {
  return numbered(blueprint).map(([name, text]) => {
    const checksum = createHash('sha256').update(text).digest('hex')
    const needs = Number(/^-- needs (\d{4})\b/.exec(text)?.[1] ?? 0)
    return { number: Number(name.slice(0, 4)), name, sql: inSchema(text, schema), checksum, needs }
  })
}

/** Tables and sequences that are there when all are applied. */
export function relationNames(blueprint: Blueprint): readonly string[] {
  const made = numbered(blueprint).flatMap(([, text]) => [
    ...text.matchAll(/^create (?:unlogged )?(?:table|sequence) pawl\.(\w+)/gm),
  ])
  return [FIRST, ...made.map(([, name]) => name ?? '')]
}

/** One of the store's; what is applied around the tables of every blueprint is among them. */
export function schemaFile(name: string): string {
  const text = sqlFiles().get(`schema/${name}`)
  assert(text !== undefined, `schema/${name} is among the files of the adapter`)
  return text
}

const numbered = ({ files }: Blueprint): readonly (readonly [name: string, text: string])[] =>
  [...files()]
    .map(([place, text]) => [place.replace('schema/', ''), text] as const)
    .filter(([name]) => /^\d{4}_\w+\.sql$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
