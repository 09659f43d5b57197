/**
 * What was thrown, as plain data. A handler may throw anything: errors of other realms, getters that throw, proxies that
 * were revoked, symbols, circles, a hundred megabytes. It is looked at here and nowhere else, each property by itself and
 * once, so that what cannot be read costs its own words and no others.
 */
import { isNativeError, isPromise } from 'node:util/types'
import { described, own } from './likeness.ts'
import { withoutOwnFrames } from './own-frames.ts'

export interface ThrownValue {
  /** The value is an error, or has a message as one has. */
  readonly isError: boolean
  /** `TypeError`; for what is no error, what it is instead: `symbol`, `object`. */
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  readonly stack: string | undefined
  readonly cause: ThrownValue | undefined
  /** The first few errors of an `AggregateError`. */
  readonly errors: readonly ThrownValue[]
  /** The words of a `JobError`, whichever copy of the class it is of, as they were given: nobody has checked them. */
  readonly fields: JobErrorFields | undefined
}

export interface JobErrorFields {
  readonly errorClass: string
  readonly stage: unknown
  readonly context: unknown
  readonly retryAfterMs: unknown
  readonly key: unknown
}

/** Texts are cut to this length before they are copied: one may have a hundred megabytes. */
const TEXT_MAX = 16_384
const CAUSES_MAX = 5
const ERRORS_MAX = 5

export function readThrown(thrown: unknown, depth = 0): ThrownValue {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return noError(thrown)
  const message = textIn(thrown, 'message')
  if (!isNativeError(thrown) && message === undefined) return noError(thrown)
  const cause = depth < CAUSES_MAX ? property(thrown, 'cause') : undefined
  return {
    isError: true,
    name: textIn(thrown, 'name') || 'Error',
    message: message ?? '',
    code: textIn(thrown, 'code'),
    stack: stackIn(thrown),
    cause: cause === undefined || cause === null ? undefined : readThrown(cause, depth + 1),
    errors: depth < CAUSES_MAX ? errorsIn(thrown) : [],
    fields: fieldsIn(thrown),
  }
}

const noError = (thrown: unknown): ThrownValue => ({
  isError: false,
  name: typeof thrown,
  message: described(thrown).slice(0, TEXT_MAX),
  code: undefined,
  stack: undefined,
  cause: undefined,
  errors: [],
  fields: undefined,
})

/** The own properties of an object, the first `most` of them. */
export function entriesIn(value: unknown, most: number): readonly (readonly [name: string, value: unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  try {
    return Object.keys(value)
      .slice(0, most)
      .map((name) => [name, property(value, name)] as const)
  } catch {
    return []
  }
}

export function property(of: object, name: string): unknown {
  try {
    return unheard(Reflect.get(of, name))
  } catch {
    return undefined
  }
}

/** A proxy that asks elsewhere answers with promises. One that is rejected while nobody listens ends the process. */
export function unheard(value: unknown): unknown {
  if (isPromise(value)) Promise.prototype.then.call(value, undefined, () => {})
  return value
}

/** A text property. A proxy is asked as well: it may answer for its target. */
function textIn(of: object, name: string): string | undefined {
  const value = property(of, name)
  const text = typeof value === 'string' ? value : own(of, name)
  return typeof text === 'string' ? text.slice(0, TEXT_MAX) : undefined
}

/**
 * The engine writes a stack when it is first asked for, and asks for name and message in its turn: what they answer with, it
 * drops, and a promise among that would be heard by nobody.
 */
function stackIn(thrown: object): string | undefined {
  const heads = [property(thrown, 'name'), property(thrown, 'message')]
  if (heads.some((head) => typeof head === 'object' && head !== null)) return undefined
  const stack = textIn(thrown, 'stack')
  return stack && withoutOwnFrames(stack)
}

function errorsIn(thrown: object): readonly ThrownValue[] {
  const errors = property(thrown, 'errors')
  if (!isArray(errors)) return []
  const length = Math.min(Number(own(errors, 'length')), ERRORS_MAX)
  return Array.from({ length }, (_, i) => readThrown(property(errors, String(i)), CAUSES_MAX))
}

/** As `Array.isArray`, which throws for a revoked proxy. */
function isArray(value: unknown): value is object {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

const FIELDS = ['stage', 'context', 'retryAfterMs', 'key'] as const

function fieldsIn(thrown: object): JobErrorFields | undefined {
  const errorClass = property(thrown, 'errorClass')
  if (typeof errorClass !== 'string') return undefined
  const [stage, context, retryAfterMs, key] = FIELDS.map((name) => property(thrown, name))
  return { errorClass, stage, context, retryAfterMs, key }
}
