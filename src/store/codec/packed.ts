/** What JSON can carry. `undefined` in a list is written as null and read back as undefined. */
import { assert } from '../../core/assert.ts'

export type Packed =
  | undefined
  | null
  | number
  | string
  | boolean
  | readonly Packed[]
  | { readonly [key: string]: Packed }

export const parsed = (text: string): Packed => JSON.parse(text) as Packed

export function text(packed: Packed): string {
  assert(typeof packed === 'string', 'stored text')
  return packed
}

export const maybeText = (packed: Packed): string | undefined => (packed == null ? undefined : text(packed))

/** JSON knows no negative zero, and a number a user reported must come back as it was. */
export const zero = (value: number): number | string => (Object.is(value, -0) ? '-0' : value)

export function number(packed: Packed): number {
  if (packed === '-0') return -0
  assert(typeof packed === 'number', 'a stored number')
  return packed
}

export const maybeNumber = (packed: Packed): number | undefined => (packed == null ? undefined : number(packed))

export function list(packed: Packed): readonly Packed[] {
  assert(Array.isArray(packed), 'a stored list')
  return packed
}

/** Lists are written without the empty places at their end. */
export function trimmed(values: Packed[]): Packed[] {
  let length = values.length
  while (length > 0 && (values[length - 1] === undefined || values[length - 1] === null)) length--
  values.length = length
  return values
}

/** `fromEntries` and not assignment: a key may be `__proto__`. */
export function texts(packed: Packed): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(dictionary(packed)).map(([key, value]) => [key, text(value)]))
}

export function numbers(packed: Packed): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(dictionary(packed)).map(([key, value]) => [key, number(value)]))
}

export function packNumbers(record: Readonly<Record<string, number>>): Packed {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, zero(value)]))
}

function dictionary(packed: Packed): { readonly [key: string]: Packed } {
  assert(typeof packed === 'object' && packed !== null && !Array.isArray(packed), 'a stored dictionary')
  return packed as { readonly [key: string]: Packed }
}
