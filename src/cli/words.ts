/** `k=text` and `n:=json` into an object: what `-p` collects. */
import { Usage } from './exit.ts'

export function words(pairs: readonly string[] | undefined): Readonly<Record<string, unknown>> | undefined {
  if (pairs === undefined || pairs.length === 0) return undefined
  return Object.fromEntries(pairs.map(pairOf))
}

function pairOf(pair: string): readonly [string, unknown] {
  const match = /^([^=:]+)(:?=)([\s\S]*)$/.exec(pair)
  if (match === null) throw new Usage(`A parameter is name=text or name:=json, not ${pair}.`)
  const [, name = '', sign, value = ''] = match
  if (sign === '=') return [name, value]
  try {
    return [name, JSON.parse(value)]
  } catch {
    throw new Usage(`${name}:= wants JSON; ${value} is none.`)
  }
}
