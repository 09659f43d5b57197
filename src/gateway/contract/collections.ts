/**
 * Lists and tables of a request, counted before anything in them is looked at: what is refused for its number costs a
 * look at its number, whichever request it is in and however many there are.
 */
import { z } from 'zod'

/** A list of at most `most` elements; a longer one is refused before any element is looked at. */
export function listOf<T extends z.ZodType>(
  element: T,
  { min = 0, most }: { readonly min?: number; readonly most: number },
) {
  const rule = min === 0 ? `at most ${most} elements` : `${min} to ${most} elements`
  const counted = z.custom<z.input<T>[]>(
    (value) => Array.isArray(value) && value.length >= min && value.length <= most,
    `must be a list of ${rule}`,
  )
  return counted.meta(described(z.array(element).min(min).max(most))).pipe(z.array(element))
}

/** Values under names of the caller's own, at most `most` of them. */
export function tableOf<V extends z.ZodType>(name: z.ZodType<string, string>, value: V, most: number) {
  const table = z.record(name, value)
  const counted = z.custom<z.input<typeof table>>(
    (entries) => isTable(entries) && Object.keys(entries).length <= most && !Object.hasOwn(entries, '__proto__'),
    `must be an object of at most ${most} entries, none of them __proto__`,
  )
  return counted.meta({ ...described(table), maxProperties: most }).pipe(table)
}

/** A known set of members. What is unknown is named, but not all of it. */
export const membersOnly = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `does not know ${someOf(issue.keys)}` : undefined),
  })

const NAMED = 5
const NAME_LENGTH = 64

function someOf(keys: readonly string[]): string {
  const named = keys.slice(0, NAMED).map((key) => JSON.stringify(key.slice(0, NAME_LENGTH)))
  return keys.length > NAMED ? `${named.join(', ')} and ${keys.length - NAMED} more` : named.join(', ')
}

const isTable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON Schema of such a list: a check that is a function cannot describe itself. */
export function described(type: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' })
  return schema
}
