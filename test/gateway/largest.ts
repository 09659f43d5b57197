/** The largest value a schema allows: every list full, every text as long as it may be, every member there. */
import { LENGTHS } from '../../src/core/limits.ts'

/** As much of JSON Schema as the contract uses. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly maxLength?: number
  readonly maximum?: number
  readonly [key: string]: unknown
}

/** `filled` is put where anything may be. */
export function largest(schema: Schema, filled: unknown, salt = ''): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum.at(-1)
  if (schema.anyOf !== undefined) return largest(schema.anyOf[0] as Schema, filled, salt)
  switch (schema.type) {
    case 'string':
      if (schema.format === 'date-time') return '2027-01-01T00:00:00.000Z'
      if (schema.pattern?.includes('{32}') === true) return `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
      return salt.padEnd(schema.maxLength ?? LENGTHS.message, 'x').slice(0, schema.maxLength ?? LENGTHS.message)
    case 'integer':
    case 'number':
      return Math.min(schema.maximum ?? 1_000_000, 1_000_000)
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: schema.maxItems ?? 1 }, (_, i) => largest(schema.items ?? {}, filled, `${salt}${i}-`))
    case 'object':
      return objectOf(schema, filled, salt)
    default:
      return schema.properties === undefined ? filled : objectOf(schema, filled, salt)
  }
}

function objectOf(schema: Schema, filled: unknown, salt: string): object {
  if (schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, largest(inner, filled, `${salt}${name}-`)]),
    )
  const { additionalProperties: inner, maxProperties = 0 } = schema
  if (typeof inner !== 'object') return {}
  return Object.fromEntries(
    Array.from({ length: maxProperties }, (_, i) => [
      `${i}-`.padEnd(LENGTHS.name, 'n'),
      largest(inner, filled, `${i}-`),
    ]),
  )
}
