import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toJson } from './core/json.ts'
import { Invalid } from './errors.ts'
import { promised } from './worker/promised.ts'

/**
 * The text of an input that its schema accepts. What is kept is what the producer handed in, not what the schema made
 * of it: the handler's side validates again, and a schema need not accept its own answers. Synchronous where the
 * schema is.
 */
export function inputText(
  type: string,
  schema: StandardSchemaV1 | undefined,
  input: unknown,
): string | undefined | Promise<string | undefined> {
  if (schema === undefined) return text(type, input)
  const result = schema['~standard'].validate(input)
  const late = promised(result)
  if (late !== undefined) return late.then((settled) => checked(type, settled, input))
  return checked(type, result as StandardSchemaV1.Result<unknown>, input)
}

function checked(type: string, result: StandardSchemaV1.Result<unknown>, input: unknown): string | undefined {
  if (result.issues === undefined) return text(type, input)
  const violations = result.issues.map((issue) => ({ field: placeOf(issue), rule: issue.message }))
  throw new Invalid(`validation_failed: input of ${type}`, violations)
}

function text(type: string, input: unknown): string | undefined {
  const json = toJson(input, 'input')
  if (!json.ok) throw new Invalid(`validation_failed: input of ${type}`, json.violations)
  return json.text
}

const placeOf = ({ path }: StandardSchemaV1.Issue): string =>
  ['input', ...(path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))].join('.')
