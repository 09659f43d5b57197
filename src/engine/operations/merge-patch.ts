/**
 * JSON Merge Patch (RFC 7396), from text to text. Numbers that JavaScript cannot hold stay the digits they are: an id of
 * twenty digits that nobody meant to change is not changed.
 */

/** As V8 has it, and the compiler does not know yet. */
interface WithRaw {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}
const raw = JSON as typeof JSON & WithRaw

/** Throws where one of them is not JSON. */
export const merged = (target: string, patch: string): string => JSON.stringify(merge(exactly(target), exactly(patch)))

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const members = new Map(isRecord(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, merge(members.get(name), value))
  }
  // Defines members, whatever they are called; assigning `__proto__` would do something else.
  return Object.fromEntries(members)
}

const exactly = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? raw.rawJSON(context.source)
      : value,
  )

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !raw.isRawJSON(value)
