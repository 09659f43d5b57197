import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toJson } from '../core/json.ts'
import type { Violation } from '../core/refusal.ts'
import { promised } from '../worker/promised.ts'
import { Invalid } from './errors.ts'

/**
 * The text of an input that its schema accepts. What is kept is what the producer handed in, not what the schema made
 * of it: the handler's side validates again, and a schema need not accept its own answers. It must accept what is kept,
 * though: where the text does not say the same as the value (a `Date` is text in JSON), it is asked about that as well.
 * Synchronous where the schema is.
 */
export function inputText(
  type: string,
  schema: StandardSchemaV1 | undefined,
  input: unknown,
): string | undefined | Promise<string | undefined> {
  if (schema === undefined) return kept(type, input).text
  const result = schema['~standard'].validate(input)
  const late = promised(result)
  if (late !== undefined) return late.then((settled) => checked(type, schema, settled, input))
  return checked(type, schema, result as StandardSchemaV1.Result<unknown>, input)
}

function checked(
  type: string,
  schema: StandardSchemaV1,
  result: StandardSchemaV1.Result<unknown>,
  input: unknown,
): string | undefined | Promise<string | undefined> {
  accept(type, result, '')
  const { text, exact } = kept(type, input)
  if (text === undefined || exact) return text
  const again = schema['~standard'].validate(JSON.parse(text))
  const agreed = (answer: StandardSchemaV1.Result<unknown>) => {
    accept(type, answer, ', as it is kept: in JSON a Date is text. Let the schema accept both (z.coerce.date())')
    return text
  }
  return promised(again)?.then(agreed) ?? agreed(again as StandardSchemaV1.Result<unknown>)
}

function kept(type: string, input: unknown): { readonly text: string | undefined; readonly exact: boolean } {
  const json = toJson(input, 'input')
  if (!json.ok) throw invalid(type, json.violations)
  return json
}

function accept(type: string, { issues }: StandardSchemaV1.Result<unknown>, why: string): void {
  if (issues === undefined) return
  throw invalid(
    type,
    issues.map((issue) => ({ field: placeOf(issue), rule: issue.message + why })),
  )
}

const invalid = (type: string, violations: readonly Violation[]): Invalid =>
  new Invalid(`validation_failed: input of ${type}`, violations)

const placeOf = ({ path }: StandardSchemaV1.Issue): string =>
  ['input', ...(path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))].join('.')
