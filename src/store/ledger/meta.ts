/**
 * What a server knows of itself, and the comparisons that its scripts make with it before they write. Nothing of this is the truth:
 * a server can be flushed, restarted from an old file or promoted without its last second. What keeps a wrong server harmless is
 * that the ledger takes no entry of it; what stands here makes that rare, and cheap to mend.
 */
import type { Account } from './account.ts'
import { BEGINNING, type Entry, type Head, headOf, isNext, isSameHead } from './entry.ts'

export interface Meta {
  /** In which it was joined last; 0 before the first time. */
  readonly epoch: number
  readonly head: Head
  readonly at: number
  /** Which life of which server was joined. A copy elsewhere, or after a restart, has another. */
  readonly incarnation: string
  /** The epoch in which it was loaded; 0: never, or it is being loaded. */
  readonly copy: number
  /** The latest epoch in which somebody began to join. */
  readonly joining: number
  /** The latest change of a job that was evicted: what was read from the ledger before that may be older than what has left. */
  readonly evicted: number
}

const NOTHING: Meta = { epoch: 0, head: BEGINNING, at: 0, incarnation: '', copy: 0, joining: 0, evicted: 0 }

/** What a process has joined, and sends along with each call. */
export interface Joined {
  readonly epoch: number
  readonly incarnation: string
}

/** Otherwise a script answers `REJOIN` and does nothing. While somebody joins nobody writes what the ledger would refuse. */
export const isJoined = (meta: Meta | undefined, { epoch, incarnation }: Joined): meta is Meta =>
  meta !== undefined && meta.epoch === epoch && meta.joining === epoch && meta.incarnation === incarnation

/** The partition's clock: it goes on from its last entry where the server's is behind. */
export const clockOf = (meta: Meta, serverMs: number): number => Math.max(serverMs, meta.at)

export const mayMark = (meta: Meta | undefined, epoch: number): boolean => epoch > (meta?.joining ?? 0)

export const marked = (meta: Meta | undefined, epoch: number): Meta => ({ ...(meta ?? NOTHING), joining: epoch })

/** Whether the joiner of this epoch still is the one who joins. */
export const isJoining = (meta: Meta | undefined, epoch: number): meta is Meta => meta?.joining === epoch

/** Of an entry that the ledger has and the server has not. */
export const mayReplay = (meta: Meta | undefined, epoch: number, entry: Entry): meta is Meta =>
  isJoining(meta, epoch) && isNext(meta.head, entry)

export const withEntry = (meta: Meta, entry: Entry): Meta => ({ ...meta, head: headOf(entry), at: entry.at })

/**
 * `pages`: how many the load of this epoch has brought; they are counted on the server, beside them. A server that went back while it
 * was loaded has lost some, and must not be opened without them.
 */
export const mayPage = (meta: Meta | undefined, epoch: number, page: number, pages: number): meta is Meta =>
  isJoining(meta, epoch) && pages === page

/**
 * A load is done in place. Its first page makes the server one that has nothing: with a head it would be taken, half emptied, for one
 * that lacks only what comes after that.
 */
export const withPage = (meta: Meta, page: number): Meta => (page === 0 ? { ...NOTHING, joining: meta.joining } : meta)

/** How a server was made to fit the ledger: by replaying what it lacked, or by a load of so many pages. */
export type Fitted = { readonly by: 'replay' } | { readonly by: 'load'; readonly pages: number }

/**
 * A server that has caught up must still be where the ledger is: calls of the old epoch may have been executed meanwhile, and what
 * they wrote would go on to live under the new one. One that was loaded has been emptied of all that.
 */
export const mayOpen = (meta: Meta | undefined, account: Account, fitted: Fitted, pages: number): meta is Meta =>
  isJoining(meta, account.epoch) &&
  (fitted.by === 'load' ? pages === fitted.pages : isSameHead(meta.head, account.head))

export const opened = (meta: Meta, account: Account, incarnation: string, { by }: Fitted): Meta => ({
  epoch: account.epoch,
  head: account.head,
  at: Math.max(meta.at, account.at),
  incarnation,
  copy: by === 'load' ? account.epoch : meta.copy,
  joining: account.epoch,
  // A load brings live jobs only: it has evicted all others.
  evicted: by === 'load' ? account.head.seq : meta.evicted,
})
