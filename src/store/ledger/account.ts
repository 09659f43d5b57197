/**
 * What the ledger keeps of a partition, and the two ways to move it. Both compare and swap: the statement in Postgres is the
 * comparison here and nothing else, and answers with the account as it is afterwards.
 */
import { type Entry, type Head, headOf, isSameHead } from './entry.ts'

export interface Account {
  /** Counts joins. Entries are taken only from a server that was joined in this epoch. */
  readonly epoch: number
  readonly head: Head
  /** The clock of the last entry: no later one may be before it, whichever server makes it. */
  readonly at: number
  /** Up to where the log has been written into the tables for reading. */
  readonly folded: number
  /** The first entry that the log still has: it is kept for a while after it was folded. */
  readonly keptFrom: number
}

/** A stretch of a server's log, on its way to the ledger. It is taken whole, or not at all. */
export interface Append<E extends Entry = Entry> {
  readonly epoch: number
  readonly after: Head
  readonly entries: readonly E[]
}

export const accepts = (account: Account, { epoch, after }: Append): boolean =>
  account.epoch === epoch && isSameHead(account.head, after)

export function appended(account: Account, { entries }: Append): Account {
  const last = entries.at(-1)
  return last === undefined ? account : { ...account, head: headOf(last), at: last.at }
}

/** Takes the epoch after this one, if nobody has yet. From then on nothing of an older one is taken. */
export const mayFence = (account: Account, epoch: number): boolean => account.epoch === epoch

export const fenced = (account: Account): Account => ({ ...account, epoch: account.epoch + 1 })
