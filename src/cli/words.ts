/** `k=text` and `n:=json` into an object: what `-p` collects. */
import { readFileSync } from 'node:fs'
import { Usage } from './exit.ts'

export function words(pairs: readonly string[] | undefined): Readonly<Record<string, unknown>> | undefined {
  if (pairs === undefined || pairs.length === 0) return undefined
  return Object.fromEntries(pairs.map(pairOf))
}

/** One more of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
]

/** JSON as it is typed, `@file`, or `-` for standard input. */
export function jsonFrom(what: string, given: string): unknown {
  if (given === '-') return jsonOf(`${what} -`, readFileSync(0, 'utf8'))
  return jsonOf(what, given.startsWith('@') ? fileText(what, given.slice(1)) : given)
}

function fileText(what: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as { readonly code?: string }
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : code
    throw new Usage(`${what} cannot be read from ${file}: ${why}.`, 'A file is named after the @: --input @mail.json')
  }
}

export function jsonOf(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Usage(`${what} wants JSON; ${text.length > 60 ? `${text.slice(0, 60)}…` : text} is none.`)
  }
}

function pairOf(pair: string): readonly [string, unknown] {
  const match = /^([^=:]+)(:?=)([\s\S]*)$/.exec(pair)
  if (match === null) throw new Usage(`A parameter is name=text or name:=json, not ${pair}.`)
  const [, name = '', sign, value = ''] = match
  return [name, sign === '=' ? value : jsonOf(`${name}:=`, value)]
}
