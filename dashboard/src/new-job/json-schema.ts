/** JSON Schema, as far as a form can be made of it: what it does not know is asked for as JSON. */
import { Digits } from '../words/json.ts'

export interface JsonSchema {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  /** Of the elements of a list. */
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: string
}

export interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
  readonly kind: Kind
}

/** How a member is asked for. */
export type Kind = 'text' | 'number' | 'switch' | 'choice' | 'group' | 'json'

export const membersOf = ({ properties = {}, required = [] }: JsonSchema): readonly Member[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
    kind: kindOf(schema),
  }))

/** The paths of its members, as a search names them; those of lists are those of their elements. */
export function pathsIn(schema: JsonSchema | undefined, depth = PATH_MOST): readonly string[] {
  const inner = schema?.items ?? schema
  return Object.entries(inner?.properties ?? {}).flatMap(([name, member]) => {
    // A name with a point or a colon in it has no words in the grammar.
    if (!/^[^\s:".]+$/.test(name)) return []
    const below = depth > 1 ? pathsIn(member, depth - 1).map((path) => `${name}.${path}`) : []
    return below.length > 0 ? below : [name]
  })
}

const PATH_MOST = 4

/**
 * A schema as far as it is one: workers in any language announce them, and what stands in one may be anything. A member that is
 * not as it should be is left out, so that what it is about is asked for as JSON.
 */
export function schemaIn(value: unknown): JsonSchema | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const given = value as Readonly<Record<string, unknown>>
  const kept = Object.entries(given).filter(([name, member]) => RIGHT[name]?.(member) ?? false)
  const { properties, items } = given
  const elements = schemaIn(items)
  if (elements !== undefined) kept.push(['items', elements])
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return Object.fromEntries(kept)
  const members = Object.entries(properties).map(([name, member]) => [name, schemaIn(member) ?? {}] as const)
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(members) }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0
const RIGHT: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: isText,
  title: isText,
  description: isText,
  format: isText,
  default: () => true,
  const: () => true,
  enum: isList,
  required: isList,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
}

/** Undefined where nothing can be asked member by member. */
export const isForm = (schema: JsonSchema | undefined): schema is JsonSchema =>
  schema !== undefined && schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0

function kindOf(schema: JsonSchema): Kind {
  if (schema.enum?.every((value) => typeof value === 'string') === true) return 'choice'
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'object':
      return isForm(schema) ? 'group' : 'json'
    default:
      return 'json'
  }
}

/** What a form begins with: defaults, and for the rest what is required, empty. */
export function beginningOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const begun: Record<string, unknown> = {}
  for (const { name, schema: own, isRequired, kind } of membersOf(schema)) {
    if (own.default !== undefined) begun[name] = own.default
    else if (own.const !== undefined) begun[name] = own.const
    else if (isRequired && kind === 'group') begun[name] = beginningOf(own)
    else if (isRequired && kind === 'switch') begun[name] = false
    else if (isRequired && kind === 'choice') begun[name] = own.enum?.[0]
  }
  return begun
}

/** What is still wrong, for whoever fills it in; the worker's own schema has the last word. */
export function complaintsAbout(schema: JsonSchema, value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Digits)
    return [`${path || 'the input'} must be an object`]
  const given = value as Readonly<Record<string, unknown>>
  return membersOf(schema).flatMap(({ name, schema: own, isRequired, kind }) => {
    const at = path === '' ? name : `${path}.${name}`
    const member = given[name]
    if (member === undefined) return isRequired ? [`${at} is missing`] : []
    if (kind === 'group') return complaintsAbout(own, member, at)
    return complaintAbout(own, member, at, kind)
  })
}

function complaintAbout(schema: JsonSchema, given: unknown, at: string, kind: Kind): readonly string[] {
  const value = given instanceof Digits ? Number(given.text) : given
  if (kind === 'text') {
    if (typeof value !== 'string') return [`${at} must be text`]
    if (value.length < (schema.minLength ?? 0)) return [`${at} is too short`]
    return value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY) ? [`${at} is too long`] : []
  }
  if (kind === 'number') {
    if (typeof value !== 'number') return [`${at} must be a number`]
    if (schema.type === 'integer' && !Number.isInteger(value)) return [`${at} must be a whole number`]
    if (value < (schema.minimum ?? Number.NEGATIVE_INFINITY)) return [`${at} must be ${schema.minimum} or more`]
    return value > (schema.maximum ?? Number.POSITIVE_INFINITY) ? [`${at} must be ${schema.maximum} or less`] : []
  }
  if (kind === 'switch') return typeof value === 'boolean' ? [] : [`${at} must be true or false`]
  if (kind === 'choice')
    return schema.enum?.includes(value) === true ? [] : [`${at} must be one of ${schema.enum?.join(', ')}`]
  return []
}
