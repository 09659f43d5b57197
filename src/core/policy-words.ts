/** Judging a policy's words, one by one: each says what is wrong, and answers with what it comes to. */
import { DURATION_RULE, type Duration, parseDuration } from './duration.ts'
import { COUNTS } from './limits.ts'
import type { Violation } from './refusal.ts'
import { unknownWords } from './unknown-words.ts'

/** A part with words of its own. What it does not know is a typing mistake, and a default in its place would be silent. */
export function part<T extends object>(
  v: Violation[],
  field: string,
  value: T | undefined,
  words: readonly string[],
): Partial<T> {
  if (value === undefined) return {}
  if (!isFields(value)) {
    v.push({ field, rule: 'must be an object' })
    return {}
  }
  v.push(...unknownWords(value, words, field))
  return value
}

export function duration(
  v: Violation[],
  field: string,
  value: Duration | undefined,
  bound: { min: number; max: number },
): number | undefined {
  if (value === undefined) return undefined
  const ms = parseDuration(value)
  if (ms === undefined) v.push({ field, rule: DURATION_RULE })
  else if (ms < bound.min || ms > bound.max)
    v.push({ field, rule: `must be between ${bound.min} ms and ${bound.max} ms` })
  return ms === undefined ? undefined : Math.round(ms)
}

export function count(
  v: Violation[],
  field: string,
  value: number | undefined,
  bound: { min: number; max: number },
): number | undefined {
  if (value === undefined) return undefined
  if (!Number.isInteger(value) || value < bound.min || value > bound.max) {
    v.push({ field, rule: `must be a whole number from ${bound.min} to ${bound.max}` })
  }
  return value
}

export function factor(v: Violation[], field: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !(value >= COUNTS.factor.min && value <= COUNTS.factor.max)) {
    v.push({ field, rule: `must be a number from ${COUNTS.factor.min} to ${COUNTS.factor.max}` })
  }
  return value
}

export function oneOf<T extends string>(
  v: Violation[],
  field: string,
  value: T | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value !== undefined && !allowed.includes(value)) v.push({ field, rule: `must be one of ${allowed.join(', ')}` })
  return value !== undefined && allowed.includes(value) ? value : undefined
}

export function flag(v: Violation[], field: string, value: boolean | undefined): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') v.push({ field, rule: 'must be true or false' })
  return value
}

export const isFields = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
