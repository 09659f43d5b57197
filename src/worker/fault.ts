/** What is written about an error: classified, without secrets and control characters, of bounded length. */
import { bodyRef } from '../core/body.ts'
import type { Fault } from '../core/command.ts'
import { TIMEOUT_CODE } from '../core/errors.ts'
import { LENGTHS, MAX_DURATION_MS, SIZES } from '../core/limits.ts'
import { faultFrom } from '../core/thrown.ts'
import type { Body } from '../store/store.ts'
import { AttemptTimeoutError } from './interrupts.ts'

const STACK_MAX = 16_384
const CAUSES_MAX = 5

export interface Written {
  readonly fault: Fault
  readonly body: Body
}

/** `attempt` names the body that keeps the stack. */
export function faultOf(thrown: unknown, attempt: number): Written {
  const { code, message, class: errorClass, stage, context, retryAfterMs } = faultFrom(thrown) ?? unclassified(thrown)
  const name = `error/${attempt}`
  const text = JSON.stringify(longStory(thrown))
  return {
    fault: {
      code: codeOf(code),
      message: sanitised(message, LENGTHS.message),
      class: errorClass,
      stage,
      context: context === undefined ? undefined : shortWords(context),
      retryAfterMs: retryAfterMs === undefined ? undefined : boundedMs(retryAfterMs),
      body: bodyRef(name, text),
    },
    body: { name, text },
  }
}

/** Whatever else is thrown is told by its code, where it has one, or by its name. */
function unclassified(thrown: unknown): Fault {
  if (thrown instanceof AttemptTimeoutError) return { code: TIMEOUT_CODE, message: thrown.message, stage: 'exec' }
  if (!(thrown instanceof Error)) return { code: 'thrown', message: describe(thrown) }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name
  return { code, message: thrown.message }
}

function codeOf(code: unknown): string {
  const text = typeof code === 'string' ? code.toWellFormed().replace(CONTROL, '').slice(0, LENGTHS.name) : ''
  return text === '' || text === '__proto__' ? 'error' : text
}

function shortWords(words: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(words)
    .slice(0, SIZES.context)
    .map(([name, value]) => [codeOf(name), sanitised(describe(value), LENGTHS.entry)] as const)
  return Object.fromEntries(entries)
}

const boundedMs = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(Math.round(ms), MAX_DURATION_MS) : undefined

interface Story {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly cause?: Story
}

function longStory(thrown: unknown, depth = 0): Story {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: sanitised(describe(thrown), STACK_MAX) }
  const story = { name: thrown.name, message: sanitised(thrown.message, STACK_MAX) }
  const told = thrown.stack === undefined ? story : { ...story, stack: sanitised(thrown.stack, STACK_MAX) }
  if (thrown.cause === undefined || depth >= CAUSES_MAX) return told
  return { ...told, cause: longStory(thrown.cause, depth + 1) }
}

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g
/** `scheme://user:secret@host`, and what follows the word that announces a token. */
const CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi
const TOKENS = /\b(bearer|basic|token|password|secret|api[-_]?key)(["']?\s*[:=]?\s*["']?)[\w.~+/=-]{8,}/gi

/** Long text is cut before it is searched: an error message of many megabytes must not cost many seconds. */
export function sanitised(text: unknown, max: number): string {
  const short = (typeof text === 'string' ? text : describe(text)).slice(0, max + 1).toWellFormed()
  const clean = short.replace(CONTROL, ' ').replace(CREDENTIALS, '$1***@').replace(TOKENS, '$1$2***')
  return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
