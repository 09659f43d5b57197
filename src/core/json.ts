/**
 * From a value to the text that is kept of it, exactly or not at all. `JSON.stringify` turns NaN into null, drops
 * functions, forgets the sign of -0 and what a Map holds; here each of these is refused with a pointer to its place,
 * and -0 stays -0.
 */
import { reasonOf } from './reason.ts'
import type { Violation } from './refusal.ts'

export type Json =
  /** `exact`: read again, the text is the value; else something in it spoke for itself (`toJSON`) or was an instance. */
  | { readonly ok: true; readonly text: string | undefined; readonly exact: boolean }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** UTF-16 code units. What is bigger belongs elsewhere, with a pointer here. */
export const JSON_LENGTH_MAX = 32 * 1024 * 1024
export const JSON_DEPTH_MAX = 500
const VIOLATIONS_MAX = 100

/** `root` names the value in violations: `input`, `result`. */
export function toJson(value: unknown, root: string): Json {
  if (value === undefined) return { ok: true, text: undefined, exact: true }
  try {
    const text = isOrdinary(value, 0) ? JSON.stringify(value) : undefined
    if (text !== undefined) return bounded(text, root, true)
    const violations: Violation[] = []
    const careful = write(value, root, [], violations)
    return violations.length === 0 ? bounded(careful, root, false) : { ok: false, violations }
  } catch (error) {
    return { ok: false, violations: [{ field: root, rule: `could not be read: ${reasonOf(error).slice(0, 200)}` }] }
  }
}

const bounded = (text: string, root: string, exact: boolean): Json =>
  text.length <= JSON_LENGTH_MAX
    ? { ok: true, text, exact }
    : { ok: false, violations: [{ field: root, rule: TOO_LONG }] }

const TOO_LONG = `must be at most ${JSON_LENGTH_MAX} characters as JSON (JSON_LENGTH_MAX); keep it elsewhere, and a pointer here`

const ORDINARY_DEPTH = 64

/** Would `JSON.stringify` keep all of it? The quick look that nearly every value passes. */
function isOrdinary(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      if (value === null) return true
      if (depth >= ORDINARY_DEPTH) return false
      return Array.isArray(value) ? isOrdinaryArray(value, depth) : isOrdinaryObject(value, depth)
    default:
      return false
  }
}

function isOrdinaryArray(value: readonly unknown[], depth: number): boolean {
  for (let i = 0; i < value.length; i += 1) if (!isOrdinary(value[i], depth + 1)) return false
  return true
}

function isOrdinaryObject(value: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false
  for (const key in value) {
    const field = (value as Readonly<Record<string, unknown>>)[key]
    if (field !== undefined && !isOrdinary(field, depth + 1)) return false
  }
  return true
}

/** The same text, written with care: every place that cannot be kept is named. */
function write(given: unknown, place: string, above: readonly unknown[], found: Violation[]): string {
  const value = unwrapped(given)
  const unkeepable = (rule: string): string => {
    if (found.length < VIOLATIONS_MAX) found.push({ field: place, rule })
    return 'null'
  }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) return unkeepable(`${value} cannot be kept as JSON`)
      return Object.is(value, -0) ? '-0' : JSON.stringify(value)
    case 'object':
      break
    default:
      return unkeepable(`${article(typeof value)} cannot be kept as JSON`)
  }
  if (value === null) return 'null'
  if (above.includes(value)) return unkeepable('refers to something around it: a cycle cannot be kept as JSON')
  if (above.length >= JSON_DEPTH_MAX) return unkeepable(`is nested more than ${JSON_DEPTH_MAX} levels deep`)
  const inside = [...above, value]
  if (Array.isArray(value)) {
    // Not `map`, which passes over holes.
    return `[${Array.from(value, (item: unknown, i) => write(item, `${place}.${i}`, inside, found)).join(',')}]`
  }
  const lossy = LOSSY.find((type) => value instanceof type)
  if (lossy !== undefined || ArrayBuffer.isView(value)) {
    return unkeepable(`${article(lossy?.name ?? 'typed array')} would be lost; convert it first`)
  }
  const fields: string[] = []
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${write(field, `${place}.${key}`, inside, found)}`)
  }
  return `{${fields.join(',')}}`
}

/** What JSON would have made of it: dates become text, boxes are opened. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('toJSON' in value && typeof value.toJSON === 'function') return (value.toJSON as () => unknown)()
  return value instanceof Number || value instanceof String || value instanceof Boolean ? value.valueOf() : value
}

/** Things of which JSON would keep an empty object. */
const LOSSY = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer] as const

const article = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`
