/** Exit codes are part of the contract: scripts branch on them. */
import { CommanderError } from 'commander'
import { GatewayUnavailable } from '../client/http.ts'
import { GatewayRefused } from '../client/refused.ts'
import type { Refusal, Violation } from '../core/refusal.ts'
import { OBJECTIONS, type Objection } from '../gateway/problem.ts'
import { Invalid, JobEndedBadly, Refused } from '../library/errors.ts'
import { troubleOf } from './trouble.ts'

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  jobFailed: 5,
  interrupted: 130,
} as const

/** What each code says, for help and documentation. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, 'done'],
  [EXIT.failure, 'it failed: the store or gateway cannot be reached, a check found something'],
  [EXIT.usage, 'the command line is wrong; nothing was asked of anybody'],
  [EXIT.notFound, 'there is no such job, token, store or code'],
  [EXIT.refused, 'the job was not moved: the refusal says why, who owns it and what to do'],
  [EXIT.jobFailed, 'the awaited job ended, and not well'],
  [EXIT.interrupted, 'interrupted (what serves until it is stopped, stops in order and ends with 0)'],
]

/** Something the user got wrong, said plainly. */
export class Usage extends Error {
  override readonly name = 'Usage'
  readonly next: string | undefined

  constructor(message: string, next?: string) {
    super(message)
    this.next = next
  }
}

/** What was named does not exist. */
export class Missing extends Error {
  override readonly name = 'Missing'
  readonly next: string | undefined

  constructor(message: string, next?: string) {
    super(message)
    this.next = next
  }
}

/** Everything has been said; only the exit code is left to tell. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly exit: number

  constructor(exit: number) {
    super(`exit ${exit}`)
    this.exit = exit
  }
}

export interface Failure {
  readonly exit: number
  /** Undefined: it has been said already. */
  readonly code: string | undefined
  readonly message: string
  readonly next: string | undefined
  readonly refusal: Refusal | undefined
  /** Every rule that was broken, with its place. */
  readonly violations: readonly Violation[]
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) return said(error.exitCode === 0 ? EXIT.ok : EXIT.usage)
  if (error instanceof Ended) return said(error.exit)
  if (error instanceof Usage) return failure(EXIT.usage, 'USAGE', error.message, error.next)
  if (error instanceof Missing) return failure(EXIT.notFound, 'NOT_FOUND', error.message, error.next)
  if (error instanceof Invalid) {
    return { ...failure(EXIT.usage, 'INVALID', error.message), violations: error.violations }
  }
  if (error instanceof Refused || error instanceof GatewayRefused) return failureFor(error.refusal)
  if (error instanceof JobEndedBadly)
    return failure(EXIT.jobFailed, error.name, error.message, `pawl jobs show ${error.id}`)
  if (error instanceof GatewayUnavailable)
    return failure(EXIT.failure, 'UNAVAILABLE', withoutPrefix(error.message), START)
  const trouble = troubleOf(error)
  if (trouble !== undefined) return failure(EXIT.failure, 'UNAVAILABLE', trouble.message, trouble.next)
  const slip = error instanceof Error ? SLIP.exec(error.message)?.[1] : undefined
  if (slip !== undefined) return failure(EXIT.usage, 'USAGE', slip)
  return failure(EXIT.failure, 'FAILED', withoutPrefix(error instanceof Error ? error.message : String(error)))
}

const START = 'Start it there (pawl serve), or lead --url (or PAWL_URL) to where it runs.'

const nothing: Pick<Failure, 'refusal' | 'violations'> = { refusal: undefined, violations: [] }

const said = (exit: number): Failure => ({ exit, code: undefined, message: '', next: undefined, ...nothing })

const failure = (exit: number, code: string, message: string, next?: string): Failure => ({
  exit,
  code,
  message,
  next,
  ...nothing,
})

function failureFor(refusal: Refusal): Failure {
  const { code, message, violations } = refusal
  return { exit: exitOf(code), code, message, next: TYPED[code] ?? refusal.next, refusal, violations }
}

/** A gateway says which header it wants; here that is an option. */
const TYPED: Readonly<Partial<Record<Objection | Refusal['code'], string>>> = {
  UNAUTHENTICATED:
    'Give a valid token with --token, --token-file or PAWL_TOKEN. Where the store is at hand, pawl token create --url <store> makes one.',
  FORBIDDEN:
    'Give a token whose scope allows it with --token, --token-file or PAWL_TOKEN: pawl token create --url <store> --scope <scope> makes one.',
}

function exitOf(code: string): number {
  // What a gateway objects to before anybody asks about a job.
  if (Object.hasOwn(OBJECTIONS, code)) return EXIT_BY_STATUS[OBJECTIONS[code as Objection].status] ?? EXIT.failure
  return EXIT_BY_CODE[code] ?? EXIT.refused
}

const EXIT_BY_STATUS: Readonly<Record<number, number>> = { 400: EXIT.usage, 404: EXIT.notFound }
const EXIT_BY_CODE: Readonly<Record<string, number>> = {
  NOT_FOUND: EXIT.notFound,
  INVALID: EXIT.usage,
  OVERLOADED: EXIT.failure,
}

/** The library says whose error it is; here everybody knows. */
const withoutPrefix = (message: string): string => message.replace(/^pawl: /, '')

/** What the library takes for a programmer's slip, and here is a typed word. */
const SLIP = /^(?:pawl: )?(?:assertion failed: )?((?:not a cursor|not a position|no store is known)[\s\S]*)$/
