/** `k=text` and `n:=json` into an object: what `-p` collects. */
import { parseDuration } from '../core/duration.ts'
import { Usage } from './exit.ts'
import { contentOf } from './secrets.ts'

export function fieldsIn(pairs: readonly string[] | undefined): Readonly<Record<string, unknown>> | undefined {
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
  const file = given.startsWith('@') ? given.slice(1) : given === '-' ? given : undefined
  return jsonOf(what, file === undefined ? given : contentOf(what, file))
}

/** Milliseconds. */
export function durationOf(what: string, text: string, leastMs = 0): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= leastMs) return ms
  const least = leastMs === 0 ? '' : ` of at least ${leastMs}ms`
  throw new Usage(`${what} wants a duration${least}, like 30s, 4m59s or 2h; ${text} is none.`)
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
