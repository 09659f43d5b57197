/** What may go wrong with Postgres, sorted by what to do about it. */

/** One attempt to reach one host, and why it failed. */
export interface Attempt {
  /** `host:port`, never who asked or with which password. */
  readonly where: string
  readonly cause: unknown
}

/** No host that takes writes could be reached for as long as it was tried. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable'
  readonly code = 'UNAVAILABLE'
  readonly attempts: readonly Attempt[]
  /** The connection broke after it was asked: whether that was applied is not known. False: it was not. */
  readonly mayBeApplied: boolean

  constructor(attempts: readonly Attempt[], { mayBeApplied = false } = {}) {
    const tried = attempts.map(({ where, cause }) => ` at ${where} (${reasonOf(cause)})`).join(', nor')
    super(`pawl: Postgres does not answer${tried}. ${NEXT}`, { cause: attempts.at(-1)?.cause })
    this.attempts = attempts
    this.mayBeApplied = mayBeApplied
  }
}

const NEXT = 'See that it runs there and lets this machine in; pawl goes on by itself once it does.'

/** The server that answers now has lost kinds that it had numbered: a standby that was behind was promoted, or a backup restored. */
export class PostgresRewound extends Error {
  override readonly name = 'PostgresRewound'
  readonly code = 'UNAVAILABLE'

  constructor() {
    super(
      'pawl: the database has lost what it had acknowledged: a server has taken its place that had not heard the last of it. Nothing was done for this call, and it may be repeated. What that means is in docs/operating.md.',
    )
  }
}

/** No client of the application's pool came free in time. No statement was sent. */
export class PoolUsedUp extends Error {
  override readonly name = 'PoolUsedUp'
  readonly code = 'UNAVAILABLE'

  constructor(where: string, waitedMs: number) {
    super(
      `pawl: no client came free within ${waitedMs / 1_000} s in ${where}. Transactions have them: end those sooner, or give the pool a larger max; or let pawl have connections of its own, open({ connection }).`,
    )
  }
}

/** The application has ended the pool that was its own. Nothing was asked. */
export class PoolEnded extends Error {
  override readonly name = 'PoolEnded'
  readonly code = 'UNAVAILABLE'

  constructor() {
    super(
      'pawl: the pool it was given has been ended by the application, and pawl has no other way to Postgres. Close pawl first, then the pool, which waits for the clients that pawl still has; to go on, open it again with a pool that is not ended.',
    )
  }
}

/** In a few words. A host name with several addresses fails with a list of errors and no words of its own. */
export function reasonOf(error: unknown): string {
  if (error === undefined) return 'the connection broke'
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join('; ')
  const message = error instanceof Error ? error.message : String(error)
  return message === '' ? codeOf(error) : message
}

export const codeOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

export const LOCK_NOT_AVAILABLE = '55P03'
export const UNIQUE_VIOLATION = '23505'
const READ_ONLY = '25006'

/** The connection is gone, or was never there: whether the statement was applied is not known. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P0[1-5])/.test(code) || /^E(CONN|PIPE|TIMEDOUT|HOST|NET)/.test(code)) return true
  const message = error instanceof Error ? error.message : ''
  return code === '' && /Connection terminated|Client has encountered|not queryable|was closed/i.test(message)
}

/** The server takes no writes any more: nothing was done, and another host takes them now. */
export const isDemoted = (error: unknown): boolean => codeOf(error) === READ_ONLY

/** This host lets nobody in just now: it is down, starting, full, or takes no writes; or its name is not known. */
export function isAway(error: unknown): boolean {
  if (error instanceof NoWrites || error instanceof TooLate) return true
  return isLost(error) || ['53300', 'ENOTFOUND', 'EAI_AGAIN'].includes(codeOf(error))
}

/** The server is there and will let us in soon: it starts, or is about to take writes. */
export const isNotYet = (error: unknown): boolean => error instanceof NoWrites || codeOf(error) === '57P03'

/** A standby, or one whose transactions are read-only. */
export class NoWrites extends Error {}

/** The server did not answer in time. */
export class TooLate extends Error {}

/** Passes by itself: repeated whole. */
export function isContended(error: unknown): boolean {
  return ['40001', '40P01', '53200'].includes(codeOf(error))
}

/** No such statement, one of that name already, or one whose answer would look different now: nothing was done. */
export const isAboutNames = (error: unknown): boolean => ['26000', '42P05', '0A000'].includes(codeOf(error))

/** An error that a single item may be to blame for: then the batch is broken up, and each item sent alone. */
export function isItems(error: unknown): boolean {
  const code = codeOf(error)
  return code === LOCK_NOT_AVAILABLE || /^(2[123]|54)/.test(code)
}
