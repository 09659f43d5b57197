/**
 * Whether a value is already what its schema would make of it, as words of workers nearly always are: then the schema is not
 * asked, which builds a value of its own and costs five times as much. No is no verdict: the schema says what is wrong, or what a default adds.
 *
 * Made of the schema itself, so that the two cannot differ: members by name, and at the leaves the schema's own answer, but for
 * the few that stand in every word.
 */
import { z } from 'zod'
import { LENGTHS, MAX_DURATION_MS } from '../../core/limits.ts'
import { isPlainText } from '../../core/name.ts'
import { durationMs, id, key, name } from './fields.ts'

export type Check = (value: unknown) => boolean

const isText =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= most && isPlainText(value)

const QUICK: ReadonlyMap<z.core.$ZodType, Check> = new Map<z.core.$ZodType, Check>([
  [id, isText(LENGTHS.id)],
  [name, isText(LENGTHS.name)],
  [key, isText(LENGTHS.key)],
  [durationMs, (value) => typeof value === 'number' && value >= 0 && value <= MAX_DURATION_MS],
])

/** `besides`: members of the value that are not the schema's business. */
export function unchangedBy(schema: z.core.$ZodType, besides: readonly string[] = []): Check {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return unchangedBy(schema.unwrap())
  if (schema instanceof z.ZodUnknown) return () => true
  if (schema instanceof z.ZodObject) return membersUnchanged(schema, besides)
  return QUICK.get(schema) ?? ((value) => z.safeParse(schema, value).success)
}

function membersUnchanged({ shape }: z.ZodObject, besides: readonly string[]): Check {
  const checks = new Map(Object.entries(shape).map(([member, schema]) => [member, unchangedBy(schema)] as const))
  for (const member of besides) checks.set(member, () => true)
  // One that is absent has a default, or is missed.
  const needed = Object.keys(shape).filter((member) => !(shape[member] instanceof z.ZodOptional))
  return (value) => {
    if (!isTable(value)) return false
    for (const member in value) if (checks.get(member)?.(value[member]) !== true) return false
    return needed.every((member) => Object.hasOwn(value, member))
  }
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
