/** What is written about an error: classified, without secrets and control characters, of bounded length. */
import { isNativeError } from 'node:util/types'
import { bodyRef, errorBody } from '../core/body.ts'
import type { Fault } from '../core/command.ts'
import { STAGES, type Stage, type Time } from '../core/job.ts'
import { LENGTHS, MAX_DURATION_MS, SIZES } from '../core/limits.ts'
import { ERROR_CLASSES } from '../core/policy.ts'
import type { Body } from '../store/store.ts'
import { described } from './likeness.ts'
import { retryAfterMsOf } from './retry-after.ts'
import { entriesIn, readThrown, type ThrownValue } from './thrown-value.ts'

const STORY_MAX = 16_384

export interface Written {
  readonly fault: Fault
  readonly body: Body
}

/**
 * An error of a handler that ran in a process of its own. What is to be written about it was written down there;
 * `onFailed` finds here the name, the code and the stack that it had.
 */
export class ThrownElsewhere extends Error {
  readonly code: string
  readonly written: Written

  constructor(written: Written) {
    const { name, stack } = JSON.parse(written.body.text) as Story
    super(written.fault.message)
    this.name = name
    this.code = written.fault.code
    if (stack !== undefined) this.stack = stack
    this.written = written
  }
}

export interface Circumstances {
  /** Names the body that keeps the stack. */
  readonly attempt: number
  /** On the store's clock: somebody may wish to be asked again at a certain time. */
  readonly now: Time
  /** The stage in which it was thrown, unless the error names one. */
  readonly stage?: Stage | undefined
}

export function faultOf(thrown: unknown, { attempt, now, stage }: Circumstances): Written {
  // `instanceof` only for native errors: of a proxy it might throw.
  if (isNativeError(thrown) && thrown instanceof ThrownElsewhere) return thrown.written
  const value = readThrown(thrown)
  const { fields } = value
  const name = errorBody(attempt)
  const { text, size, digest, message } = told(value)
  return {
    fault: {
      code: codeOf(value.code ?? (value.isError ? value.name : 'thrown')),
      message,
      // A class or a stage that core does not know says nothing, and must not keep the rest from being said.
      class: ERROR_CLASSES.find((known) => known === fields?.errorClass),
      stage: STAGES.find((known) => known === fields?.stage) ?? stage,
      context: fields?.context === undefined ? undefined : contextOf(fields.context),
      retryAfterMs: boundedMs(fields?.retryAfterMs) ?? retryAfterMsOf(thrown, now),
      body: { name, size, digest },
      key: keyOf(fields?.key),
    },
    body: { name, text },
  }
}

/** What is kept of a thrown value in words: it depends on nothing else. */
interface Told {
  readonly of: ThrownValue
  readonly text: string
  readonly size: number
  readonly digest: string | undefined
  readonly message: string
}

/** Failures come in crowds of the same, when something behind the handlers is down: searched for secrets and written out is the first of them. */
let lastTold: Told | undefined

function told(value: ThrownValue): Told {
  if (lastTold !== undefined && isSameStory(lastTold.of, value)) return lastTold
  const text = JSON.stringify(storyOf(value))
  const { size, digest } = bodyRef('', text)
  const made = { of: value, text, size, digest, message: sanitised(value.message, LENGTHS.message) }
  // Whatever else an error refers to may be big, and must not be kept alive.
  if (isAlone(value)) lastTold = { ...made, of: { ...value, fields: undefined } }
  return made
}

const isSameStory = (one: ThrownValue, other: ThrownValue): boolean =>
  isAlone(other) && one.stack === other.stack && one.message === other.message && one.name === other.name

const isAlone = ({ cause, errors }: ThrownValue): boolean => cause === undefined && errors.length === 0

function codeOf(code: string): string {
  const text = code.slice(0, LENGTHS.name).toWellFormed().replace(CONTROL, '')
  return text === '' || text === '__proto__' ? 'error' : text
}

/** A key that cannot be one is nobody's: it must not keep the rest from being said. */
const keyOf = (key: unknown): string | undefined =>
  typeof key === 'string' && key !== '' && key.length <= LENGTHS.key && key.isWellFormed() && !CONTROL.test(key)
    ? key
    : undefined

function contextOf(context: unknown): Fault['context'] {
  const entries = entriesIn(context, SIZES.context)
  return Object.fromEntries(entries.map(([name, value]) => [codeOf(name), sanitised(described(value), LENGTHS.entry)]))
}

const boundedMs = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(Math.round(ms), MAX_DURATION_MS) : undefined

interface Story {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly cause?: Story
  readonly errors?: readonly Story[]
}

const storyOf = ({ name, message, stack, cause, errors }: ThrownValue): Story => ({
  name: sanitised(name, LENGTHS.name),
  message: sanitised(message, STORY_MAX),
  ...(stack === undefined ? {} : { stack: sanitised(stack, STORY_MAX) }),
  ...(cause === undefined ? {} : { cause: storyOf(cause) }),
  ...(errors.length === 0 ? {} : { errors: errors.map(storyOf) }),
})

const CONTROL = /[\u0000-\u001f\u007f]/g
/** Line breaks and tabs stay: a stack without them cannot be read. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g
/**
 * `scheme://user:secret@host`, and what follows the word that announces a token. A scheme is short: without a bound,
 * 16,384 letters and dashes would be walked through from each of them.
 */
const CREDENTIALS = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@]+@/gi
const TOKENS = /\b(bearer|basic|token|password|secret|api[-_]?key)(["']?\s*[:=]?\s*["']?)[\w.~+/=-]{8,}/gi

/** Long text is cut before it is searched: an error message of many megabytes must not cost many seconds. */
export function sanitised(text: unknown, max: number): string {
  const short = (typeof text === 'string' ? text : described(text)).slice(0, max + 1).toWellFormed()
  const clean = short.replace(UNPRINTABLE, ' ').replace(CREDENTIALS, '$1***@').replace(TOKENS, '$1$2***')
  return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean
}
