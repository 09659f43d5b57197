/** Input and output by whatever Standard Schema the job type has. Synchronous where the schema is. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toJson } from '../core/json.ts'
import { PermanentError, ValidationError } from '../core/thrown.ts'
import type { JobDefinition } from './definition.ts'

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error }

/** From the stored text. An error that is no `ValidationError` says that the text is not JSON. */
export function checkedInput(
  { input: schema }: JobDefinition,
  text: string | undefined,
): Checked<unknown> | Promise<Checked<unknown>> {
  let value: unknown
  try {
    value = text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
  }
  return schema === undefined ? { ok: true, value } : checked(schema, value, 'input')
}

/** For what must be kept and is no answer: a step's memo, a checkpoint. Another attempt would have no better one. */
export function mustSerialise(value: unknown, root: string, what: string): string | undefined {
  const answer = serialised(value, root, what, 'exec')
  if (!answer.ok) throw answer.error
  return answer.value
}

/** To the text to be stored. */
export function checkedOutput(
  { output: schema }: JobDefinition,
  value: unknown,
): Checked<string | undefined> | Promise<Checked<string | undefined>> {
  if (schema === undefined) return serialisedResult(value)
  const answer = checked(schema, value, 'output')
  return answer instanceof Promise ? answer.then(andSerialised) : andSerialised(answer)
}

const andSerialised = (answer: Checked<unknown>): Checked<string | undefined> =>
  answer.ok ? serialisedResult(answer.value) : answer

const serialisedResult = (value: unknown): Checked<string | undefined> =>
  serialised(value, 'result', 'The handler’s answer', 'output')

/** Exactly, or not at all: what JSON would change is refused with its place, as an input would be. */
function serialised(value: unknown, root: string, what: string, stage: 'exec' | 'output'): Checked<string | undefined> {
  const json = toJson(value, root)
  if (json.ok) return { ok: true, value: json.text }
  const [first] = json.violations
  const shown = json.violations.slice(0, ISSUES_SHOWN).map(({ field, rule }) => `${field}: ${rule}`)
  const more = json.violations.length > ISSUES_SHOWN ? ` (and ${json.violations.length - ISSUES_SHOWN} more)` : ''
  const context = first === undefined ? {} : { path: first.field }
  const message = `${what} cannot be kept as JSON: ${shown.join('; ')}${more}`
  return { ok: false, error: new PermanentError(message, { code: 'not_json', stage, context }) }
}

function checked(
  schema: StandardSchemaV1,
  value: unknown,
  stage: 'input' | 'output',
): Checked<unknown> | Promise<Checked<unknown>> {
  const result = schema['~standard'].validate(value)
  return result instanceof Promise ? result.then((late) => verdict(late, stage)) : verdict(result, stage)
}

const verdict = (result: StandardSchemaV1.Result<unknown>, stage: 'input' | 'output'): Checked<unknown> =>
  result.issues === undefined ? { ok: true, value: result.value } : { ok: false, error: invalid(result.issues, stage) }

const ISSUES_SHOWN = 5

function invalid(issues: readonly StandardSchemaV1.Issue[], stage: 'input' | 'output'): ValidationError {
  const shown = issues.slice(0, ISSUES_SHOWN).map((issue) => `${pathOf(issue, stage)}: ${issue.message}`)
  const more = issues.length > ISSUES_SHOWN ? ` (and ${issues.length - ISSUES_SHOWN} more)` : ''
  const [first] = issues
  const context = first === undefined ? {} : { path: pathOf(first, stage) }
  return new ValidationError(`${shown.join('; ')}${more}`, { stage, context })
}

const pathOf = ({ path }: StandardSchemaV1.Issue, stage: string): string =>
  [stage, ...(path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))].join('.')
