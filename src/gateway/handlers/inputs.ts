/**
 * Looking into inputs: the part of a search that no index answers. An input may have eight megabytes, and while one is parsed
 * and walked through nobody's heartbeat is heard: a long one is not looked into, which the answer says; after each the event
 * loop turns; and a page ends after so many jobs or letters, and goes on by cursor.
 */
import type { Job } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import { turn } from '../../system/turn.ts'
import { matches } from '../contract/search.ts'
import type { Part, Wanted } from './paged.ts'
import type { InputTerm } from './search.ts'

export interface Found {
  readonly jobs: readonly Job[]
  readonly cursor: string | undefined
  /** How many were read to find these. */
  readonly read: number
  /** How many of them have an input that is too long to be looked into; absent where none has. */
  readonly tooLong: number | undefined
}

/** Jobs of one page. */
const READ_MOST = 500
/** Letters of one page. */
const LETTERS_MOST = 8 * 1024 * 1024
/** Letters of an input that is looked into: some milliseconds. */
export const LOOKED_INTO = 128 * 1024
/** Jobs that are asked for together, and inputs, which may have eight megabytes each. */
const JOBS_AT_ONCE = 25
const INPUTS_AT_ONCE = 5

/** Jobs whose input has what is asked for, among those that a search finds otherwise. */
export async function withInput(
  wanted: readonly InputTerm[],
  cursor: string | undefined,
  engine: Pick<Engine, 'load'>,
  signal: AbortSignal,
  find: (part: Wanted) => Promise<Part<Job>>,
): Promise<Found> {
  const jobs: Job[] = []
  let [after, read, letters, tooLong] = [cursor, 0, 0, 0]
  while (read < READ_MOST && letters < LETTERS_MOST) {
    const { items, cursor: next } = await find({ limit: JOBS_AT_ONCE, cursor: after })
    for await (const { job, input } of inputsOf(items, engine)) {
      if (signal.aborted) return { jobs, cursor: after, read, tooLong }
      letters += input.length
      if (input.length > LOOKED_INTO) tooLong += 1
      else if (hasAll(input, wanted)) jobs.push(job)
      await turn()
    }
    read += items.length
    after = next
    // A part that is short has looked at as much as may be looked at for one request.
    if (after === undefined || items.length < JOBS_AT_ONCE) break
  }
  return { jobs, cursor: after, read, tooLong: tooLong === 0 ? undefined : tooLong }
}

async function* inputsOf(jobs: readonly Job[], engine: Pick<Engine, 'load'>) {
  for (let from = 0; from < jobs.length; from += INPUTS_AT_ONCE) {
    const some = jobs.slice(from, from + INPUTS_AT_ONCE)
    const asked = some.map(({ id, spec }) => ({ id, tenant: spec.kind.tenant, bodies: ['input'] }))
    const { items } = await engine.load(asked)
    for (const item of items) if (item !== undefined) yield { job: item.job, input: item.bodies['input'] ?? 'null' }
  }
}

function hasAll(text: string, wanted: readonly InputTerm[]): boolean {
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
