/** Names that an operator chooses and that become part of statements: pawl's schema, and the role that may use it. */
import { quoted } from '../connection/statements.ts'

/** Postgres cuts longer ones off without a word, and then two names are one. */
const BYTES_MAX = 63

/**
 * What nobody means, and two characters that are not safe everywhere: `$` can end the body of a function, and `$user` in
 * a search path is another schema for everybody; a backslash is one where `standard_conforming_strings` is off, too.
 */
const UNFIT = /[\u0000-\u001f\u007f$\\]/

export function checkedSchema(name: string): string {
  if (name === 'public' || name === 'information_schema') {
    throw new Error(
      `pawl: schema ${name} is everybody's, and whoever may make things in it could have pawl's functions run them. Choose a schema of its own.`,
    )
  }
  return checked('schema', name)
}

export function checkedRole(name: string): string {
  if (name === 'public' || name === 'none') throw new Error(`pawl: ${name} is a word of Postgres and no role.`)
  return checked('role', name)
}

function checked(what: 'schema' | 'role', name: string): string {
  const bytes = Buffer.byteLength(name)
  if (bytes === 0 || bytes > BYTES_MAX)
    throw new Error(`pawl: the name of a ${what} has 1 to ${BYTES_MAX} bytes; this one has ${bytes}.`)
  if (!name.isWellFormed() || UNFIT.test(name)) {
    throw new Error(
      `pawl: the name of a ${what} has no control character, backslash or $; this one is ${JSON.stringify(name)}.`,
    )
  }
  if (/^pg_/i.test(name)) throw new Error(`pawl: names that begin with pg_ are Postgres' own; this one is ${name}.`)
  return name
}

/** A text constant. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A comment, a text constant, or the word that stands for pawl's schema. */
const PLACES = /--.*$|'(?:[^']|'')*'|\bpawl\b/gm

/** The files say `pawl`: another schema's name replaces it wherever it is a word of its own, quoted as the place demands. */
export function inSchema(sql: string, schema: string): string {
  const name = quoted(schema)
  const inConstant = name.replaceAll("'", "''")
  return sql.replaceAll(PLACES, (place) => {
    if (place.startsWith('--')) return ''
    return place.startsWith("'") ? place.replaceAll(/\bpawl\b/g, () => inConstant) : name
  })
}
