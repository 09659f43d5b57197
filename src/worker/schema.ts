/**
 * Input and output by whatever Standard Schema the job type has. Synchronous where the schema is. What a schema throws is
 * thrown on: it is no verdict about the value.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toJson } from '../core/json.ts'
import { reasonOf } from '../core/reason.ts'
import { PermanentError, ValidationError } from '../core/thrown.ts'
import type { JobDefinition } from './definition.ts'
import { promised } from './promised.ts'

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error }

/** Parses and checks the stored text of an input. An error that is no `ValidationError` says that it is not JSON. */
export function checkedInput(
  { input: schema }: Pick<JobDefinition, 'input'>,
  text: string | undefined,
): Checked<unknown> | Promise<Checked<unknown>> {
  let value: unknown
  try {
    value = text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    return { ok: false, error: new Error(reasonOf(error), { cause: error }) }
  }
  return checkedValue({ input: schema }, value)
}

/** As `checkedInput`, of a value that has been parsed already. */
export const checkedValue = (
  { input: schema }: Pick<JobDefinition, 'input'>,
  value: unknown,
): Checked<unknown> | Promise<Checked<unknown>> =>
  schema === undefined ? { ok: true, value } : checked(schema, value, 'input')

/** The JSON of a step's memo or a checkpoint. Throws a permanent error where there is none: another attempt would have no better one. */
export function mustSerialise(value: unknown, root: string, what: string): string | undefined {
  const answer = serialised(value, root, what, 'exec')
  if (!answer.ok) throw answer.error
  return answer.value
}

/** Checks an output and makes the text to be stored. */
export function checkedOutput(
  { output: schema }: Pick<JobDefinition, 'output'>,
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
  const late = promised(result)
  return late === undefined ? checkedBy(result, stage) : checkedLate(late, stage)
}

const checkedLate = async (late: Promise<unknown>, stage: 'input' | 'output') => checkedBy(await late, stage)

function checkedBy(result: unknown, stage: 'input' | 'output'): Checked<unknown> {
  if (typeof result !== 'object' || result === null) {
    const message = `The schema of the ${stage} answered with ${String(result)}, which is no verdict.`
    throw new PermanentError(message, { code: 'bad_schema', stage })
  }
  const { issues, value } = result as { issues?: readonly StandardSchemaV1.Issue[]; value?: unknown }
  return issues === undefined ? { ok: true, value } : { ok: false, error: invalid(issues, stage) }
}

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
