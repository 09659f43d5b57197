/** Checks of single fields, whatever they are given: nothing throws, and all that is wrong is found. */
import { LENGTHS, MAX_DURATION_MS, MAX_TIME, SIZES } from './limits.ts'
import { COMMA_RULE, isPlainText, PLAIN_RULE, SEGMENT_RULE } from './name.ts'
import type { Violation } from './refusal.ts'

export type Fields = Readonly<Record<string, unknown>>

export const NONE: readonly Violation[] = []

/** Collects violations; each method adds at most one. */
export class Checker {
  found = NONE

  fail(field: string, rule: string): void {
    this.found = [...this.found, { field, rule }]
  }

  /** For checks that are rarely made: a function made for each call shows where all commands pass. */
  optional(field: string, value: unknown, check: (field: string, value: unknown) => void): void {
    if (value !== undefined) check(field, value)
  }

  textIfAny(field: string, value: unknown, max: number): void {
    if (value !== undefined) this.text(field, value, max)
  }

  wholeIfAny(field: string, value: unknown, min: number, max: number): void {
    if (value !== undefined) this.whole(field, value, min, max)
  }

  timeIfAny(field: string, value: unknown): void {
    if (value !== undefined) this.time(field, value)
  }

  bodyIfAny(field: string, value: unknown): void {
    if (value !== undefined) this.body(field, value)
  }

  countersIfAny(field: string, value: unknown): void {
    if (value !== undefined) this.counters(field, value)
  }

  /** Short text that may become a key, a column or a label: well-formed, without control characters. */
  text(field: string, value: unknown, max: number): void {
    if (typeof value !== 'string' || value.length === 0 || value.length > max)
      this.fail(field, `must be text of 1 to ${max} characters`)
    else if (!isPlainText(value)) this.fail(field, PLAIN_RULE)
  }

  /** Text by which something is found in a path. */
  segment(field: string, value: unknown, max: number): void {
    if (value === '.' || value === '..') this.fail(field, SEGMENT_RULE)
    else this.text(field, value, max)
  }

  /** The name of a queue or a type: one among several in a list, and in a path. */
  listed(field: string, value: unknown): void {
    if (value === '.' || value === '..') this.fail(field, SEGMENT_RULE)
    else if (typeof value === 'string' && value.includes(',')) this.fail(field, COMMA_RULE)
    else this.name(field, value)
  }

  /** A name that may become a property: never one that objects treat as their own. */
  name(field: string, value: unknown): void {
    if (value === '__proto__') this.fail(field, 'must not be __proto__')
    else this.text(field, value, LENGTHS.name)
  }

  /** Words for people: anything, as long as it is not endless. */
  prose(field: string, value: unknown, max: number): void {
    if (typeof value !== 'string' || value.length > max) this.fail(field, `must be text of at most ${max} characters`)
  }

  whole(field: string, value: unknown, min: number, max: number): void {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      this.fail(field, `must be a whole number from ${min} to ${max}`)
    }
  }

  finite(field: string, value: unknown): void {
    if (!Number.isFinite(value)) this.fail(field, 'must be a finite number')
  }

  time(field: string, value: unknown): void {
    if (!Number.isFinite(value) || (value as number) < 0 || (value as number) > MAX_TIME) {
      this.fail(field, 'must be a time in milliseconds since 1970, before the year 10000')
    }
  }

  durationMs(field: string, value: unknown): void {
    if (!Number.isFinite(value) || (value as number) < 0 || (value as number) > MAX_DURATION_MS) {
      this.fail(field, `must be a duration from 0 to ${MAX_DURATION_MS} ms`)
    }
  }

  oneOf(field: string, value: unknown, allowed: readonly string[]): void {
    if (typeof value !== 'string' || !allowed.includes(value)) this.fail(field, `must be one of ${allowed.join(', ')}`)
  }

  flag(field: string, value: unknown): void {
    if (typeof value !== 'boolean') this.fail(field, 'must be true or false')
  }

  object(field: string, value: unknown, check: (value: Fields) => void): void {
    if (isObject(value)) check(value)
    else this.fail(field, 'must be an object')
  }

  table(field: string, value: unknown, most: number, check: (field: string, value: unknown) => void): void {
    this.object(field, value, (entries) => {
      const names = Object.keys(entries)
      if (names.length > most) this.fail(field, `must have at most ${most} entries`)
      for (const name of names.slice(0, most)) {
        this.name(`${field}.${name.slice(0, 40)}`, name)
        check(`${field}.${name.slice(0, 40)}`, entries[name])
      }
    })
  }

  words(field: string, value: unknown, most: number): void {
    this.table(field, value, most, (f, x) => this.prose(f, x, LENGTHS.entry))
  }

  counters(field: string, value: unknown): void {
    this.table(field, value, SIZES.counters, (f, x) => this.finite(f, x))
  }

  body(field: string, value: unknown): void {
    if (isUsualBody(value)) return
    this.object(field, value, (ref) => {
      this.text(`${field}.name`, ref['name'], LENGTHS.key)
      this.whole(`${field}.size`, ref['size'], 0, Number.MAX_SAFE_INTEGER)
      this.textIfAny(`${field}.digest`, ref['digest'], LENGTHS.id)
    })
  }
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What nearly all bodies are: a known name, a size, no digest. */
const isUsualBody = (value: unknown): boolean =>
  isObject(value) &&
  (value['name'] === 'input' || value['name'] === 'output') &&
  value['digest'] === undefined &&
  Number.isSafeInteger(value['size']) &&
  (value['size'] as number) >= 0
