/** What is to be done with the log of a server: the shipper's decision. */
import type { Account, Append } from './account.ts'
import { type Entry, entriesAfter } from './entry.ts'
import type { Meta } from './meta.ts'

/** A server's log as one call has read it: what it has after the ledger's head, or after an earlier one. */
export interface LogView<E extends Entry = Entry> {
  readonly meta: Meta | undefined
  readonly entries: readonly E[]
}

/**
 * Why the server does not fit the ledger. `empty`: it has lost all. `fenced`: somebody has joined another, or is about to. `behind`:
 * it has lost what the ledger has. `forked`: it has gone on from there, too.
 */
export type Misfit = 'empty' | 'fenced' | 'behind' | 'forked'

export type Shipment<E extends Entry = Entry> =
  | { readonly kind: 'append'; readonly append: Append<E> }
  | { readonly kind: 'shipped' }
  /** The account is older than the server: the ledger is to be asked again. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'misfit'; readonly why: Misfit }

/** The log must have been read after the account: otherwise a server may seem to be behind that is not. */
export function shipmentOf<E extends Entry>(account: Account, { meta, entries }: LogView<E>): Shipment<E> {
  if (meta === undefined || meta.copy === 0) return { kind: 'misfit', why: 'empty' }
  if (meta.epoch > account.epoch) return { kind: 'outdated' }
  if (meta.epoch < account.epoch) return { kind: 'misfit', why: 'fenced' }
  if (meta.head.seq < account.head.seq) return { kind: 'misfit', why: 'behind' }
  const rest = entriesAfter(account.head, entries)
  if (rest === undefined || !reaches(meta, account, rest)) return { kind: 'misfit', why: 'forked' }
  if (rest.length === 0) return { kind: 'shipped' }
  return { kind: 'append', append: { epoch: account.epoch, after: account.head, entries: rest } }
}

/** Without anything after it the ledger's head must be the server's own. */
const reaches = (meta: Meta, { head }: Account, rest: readonly Entry[]): boolean =>
  (rest.at(-1) ?? head).name === meta.head.name
