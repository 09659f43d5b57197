/**
 * How a server is made to fit the ledger. Each step is one question to one of the two, and any number of processes may be at any of
 * them at once, die, or go on after an hour: what a step does is done only if what it compares is still so.
 *
 *   look      the ledger's account
 *   compare   the server's log with it. It fits, and nothing is to be done; or
 *   ship      what it has beyond the ledger goes there under the old epoch: a restart that lost nothing loses nothing
 *   fence     the next epoch is taken. Nothing is appended until it is open: the ledger stands still
 *   mark      the server is told who joins; an older joiner is refused from here on
 *   measure   the server's head, and what the ledger has after it
 *   replay    that, entry by entry, where the ledger's log has the server's head
 *   load      all that lives, page by page in the place of what is there, where it has not: empty, too old, forked
 *   open      the server takes calls of the new epoch
 *   joined
 */
import type { Account, Append } from './account.ts'
import type { Entry } from './entry.ts'
import { type Fitted, isJoined, isJoining, type Meta } from './meta.ts'
import { type LogView, shipmentOf } from './shipment.ts'

export type Join<E extends Entry = Entry> =
  | { readonly step: 'look' }
  | { readonly step: 'compare'; readonly account: Account }
  | { readonly step: 'ship'; readonly append: Append<E> }
  | { readonly step: 'fence'; readonly account: Account }
  | { readonly step: 'mark'; readonly account: Account }
  | { readonly step: 'measure'; readonly account: Account }
  | { readonly step: 'replay'; readonly account: Account; readonly entries: readonly E[] }
  | { readonly step: 'load'; readonly account: Account; readonly page: number }
  | { readonly step: 'open'; readonly account: Account; readonly fitted: Fitted }
  | { readonly step: 'joined'; readonly epoch: number }

/** Also where a step was refused: somebody else has come further. */
export const LOOK = { step: 'look' } as const

export const afterLook = (account: Account): Join<never> => ({ step: 'compare', account })

/** `lost`: the latest epoch of calls of this process that are open and lost (fate.ts); 0 where there are none. */
export function afterCompare<E extends Entry>(
  account: Account,
  view: LogView<E>,
  incarnation: string,
  lost: number,
): Join<E> {
  const shipment = shipmentOf(account, view)
  if (shipment.kind === 'outdated') return LOOK
  const fits = shipment.kind !== 'misfit' && isJoined(view.meta, { epoch: account.epoch, incarnation })
  if (fits && account.epoch > lost) return { step: 'joined', epoch: account.epoch }
  return shipment.kind === 'append' ? { step: 'ship', append: shipment.append } : { step: 'fence', account }
}

/** `account` is the ledger's, after it was asked to append. */
export const afterShip = (accepted: boolean, account: Account): Join<never> =>
  accepted ? { step: 'fence', account } : LOOK

export const afterFence = (taken: boolean, account: Account): Join<never> => (taken ? { step: 'mark', account } : LOOK)

export const afterMark = (account: Account, done: boolean): Join<never> => (done ? { step: 'measure', account } : LOOK)

/** `missing`: what the ledger has after the server's head; undefined where that is not in its log. */
export function afterMeasure<E extends Entry>(
  account: Account,
  meta: Meta | undefined,
  missing: readonly E[] | undefined,
): Join<E> {
  if (!isJoining(meta, account.epoch)) return LOOK
  if (meta.copy === 0 || missing === undefined) return { step: 'load', account, page: 0 }
  return replaying(account, missing)
}

export const afterReplay = <E extends Entry>(account: Account, entries: readonly E[], done: boolean): Join<E> =>
  done ? replaying(account, entries.slice(1)) : LOOK

const replaying = <E extends Entry>(account: Account, entries: readonly E[]): Join<E> =>
  entries.length === 0 ? { step: 'open', account, fitted: { by: 'replay' } } : { step: 'replay', account, entries }

/**
 * `read`: the account that was read together with the page; undefined of one that only removes. In another epoch it is not what the
 * ledger stood still at, and where the fold has not come to the head the image lacks the rest.
 */
export function afterLoad(
  account: Account,
  page: number,
  read: Account | undefined,
  written: boolean,
  isLast: boolean,
): Join<never> {
  if (!written || (read !== undefined && !isOfThatMoment(account, read))) return LOOK
  const next = page + 1
  return isLast ? { step: 'open', account, fitted: { by: 'load', pages: next } } : { step: 'load', account, page: next }
}

const isOfThatMoment = (account: Account, read: Account): boolean =>
  read.epoch === account.epoch && read.folded >= account.head.seq

export const afterOpen = (account: Account, done: boolean): Join<never> =>
  done ? { step: 'joined', epoch: account.epoch } : LOOK
