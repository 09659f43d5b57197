/** What a search wants of inputs, which no index answers: each is read, parsed and walked through. */
import type { Job } from '../core/job.ts'
import { matches } from '../core/search.ts'
import type { Engine } from './engine.ts'

/** What an input must have: a path, and how the value there looks. */
export interface InputTerm {
  readonly path: readonly string[]
  readonly pattern: string
}

/** Letters of an input that is looked into: some milliseconds. */
export const LOOKED_INTO = 128 * 1024
/** Read together: each may have eight megabytes. */
const AT_ONCE = 5

/** Jobs with their inputs as text, a few at a time; those that are gone by now are left out. */
export async function* inputsOf(jobs: readonly Job[], engine: Pick<Engine, 'load'>) {
  for (let from = 0; from < jobs.length; from += AT_ONCE) {
    const some = jobs.slice(from, from + AT_ONCE)
    const asked = some.map(({ id, spec }) => ({ id, tenant: spec.kind.tenant, bodies: ['input'] }))
    const { items } = await engine.load(asked)
    for (const item of items) if (item !== undefined) yield { job: item.job, input: item.bodies['input'] ?? 'null' }
  }
}

export function hasAll(text: string, wanted: readonly InputTerm[]): boolean {
  const input = parsed(text)
  return wanted.every(({ path, pattern }) => valuesAt(input, path).some((value) => matches(pattern, value)))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What stands there, as text; a list is all its elements. */
function valuesAt(value: unknown, path: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, path))
  const [name, ...rest] = path
  if (name === undefined)
    return value !== null && typeof value === 'object'
      ? [JSON.stringify(value)]
      : value === undefined
        ? []
        : [String(value)]
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return []
  return valuesAt((value as Readonly<Record<string, unknown>>)[name], rest)
}
