/** What may go wrong with Redis, sorted by what to do about it. */
import { reasonOf } from '../../../core/reason.ts'
import { BEHIND } from '../script/scripts.ts'

/** A store that cannot be opened, or could not do what it was asked. */
export class RedisStoreError extends Error {
  override readonly name = 'RedisStoreError'
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export const closed = (): RedisStoreError => new RedisStoreError('STORE_CLOSED', 'pawl: the store is closed')

export const unavailable = (where: string, cause: unknown): RedisStoreError =>
  new RedisStoreError(
    'UNAVAILABLE',
    `pawl: Redis does not answer at ${where} (${reasonOf(cause)}). Whether what was asked last has been done is not known; asked again under the same id it is done once. See that it runs there and lets this machine in; pawl goes on by itself once it does.`,
    cause,
  )

/** The server's memory is full: nothing was written. */
export const overloaded = (cause: unknown): RedisStoreError =>
  new RedisStoreError(
    'OVERLOADED',
    `pawl: Redis is out of memory (${reasonOf(cause)}). Nothing was written. Raise its maxmemory, or let finished jobs be removed sooner (retention).`,
    cause,
  )

export const codeIn = (error: unknown): string =>
  error instanceof Error ? (/^[A-Z]+/.exec(error.message)?.[0] ?? '') : ''

export const isUnknownScript = (error: unknown): boolean => codeIn(error) === 'NOSCRIPT'

export const isFull = (error: unknown): boolean => codeIn(error) === 'OOM'

/** Too much of what was done has not come to the ledger: nothing was written. */
export const isBehind = (error: unknown): boolean => codeIn(error) === BEHIND

export const behind = (cause: unknown): RedisStoreError =>
  new RedisStoreError(
    'OVERLOADED',
    `pawl: the ledger is too far behind Redis (${reasonOf(cause)}). Nothing was written. See that its Postgres runs and takes writes; pawl goes on by itself once it does.`,
    cause,
  )

/** The ledger has less than this server was told that it has: nothing may be loaded from it over what the server still has. */
export const ledgerWentBack = (): RedisStoreError =>
  new RedisStoreError(
    'STORE_FAILED',
    'pawl: the ledger has less than this Redis knows it to have had: it is another one, or a failover or a backup has taken it back. Nothing was touched. Point pawl to the ledger of this Redis, or take another prefix.',
  )

/** Answers of a server that is not ready, or not the master: nothing was done, and it passes. */
const PASSING: ReadonlySet<string> = new Set([
  'LOADING',
  'BUSY',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MISCONF',
  'NOREPLICAS',
  'UNBLOCKED',
])

/** There was no connection to send it on. */
const NOT_SENT = 'ClientOfflineError'

const GONE: ReadonlySet<string> = new Set([
  'AbortError',
  'ClientClosedError',
  NOT_SENT,
  'ConnectionTimeoutError',
  'DisconnectsClientError',
  'SocketClosedUnexpectedlyError',
  'SocketTimeoutError',
  'TimeoutError',
])

/** It was sent, perhaps, and then the connection was gone: it may have been done. */
export const mayBeDone = (error: unknown): boolean =>
  isPassing(error) &&
  !PASSING.has(codeIn(error)) &&
  !(error instanceof NotJoined) &&
  !(error instanceof Error && error.constructor.name === NOT_SENT)

/** A call that was answered by the server, and failed in what its answer waits for: what it has written may be there. */
export class Unfinished extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause })
  }
}

/** A server that has no room for what would make it one that takes calls: none was made. */
export class NotJoined extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause })
  }
}

/** The connection is gone, or the server takes nothing just now: worth another try. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error instanceof NotJoined) return true
  return GONE.has(error.constructor.name) || PASSING.has(codeIn(error)) || /^(E[A-Z]{4,}|UND_)/.test(code)
}
