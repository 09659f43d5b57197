/** Brings the ledger to where a server is. Any number of processes may be at it at once: what one of them has shipped the others skip. */
import type { Account } from '../../ledger/account.ts'
import type { Ledger, WrittenEntry } from '../../ledger/ledger-port.ts'
import { type Misfit, shipmentOf } from '../../ledger/shipment.ts'
import { ledgerWentBack } from '../connection/trouble.ts'
import type { ServerLog, ServerView } from './server-log.ts'

export interface ShipParts {
  readonly log: Pick<ServerLog, 'after' | 'shipped'>
  readonly ledger: Pick<Ledger, 'account' | 'append'>
  /** The ledger has taken these. */
  readonly took?: ((entries: readonly WrittenEntry[]) => void) | undefined
  /** The ledger has not taken what it was given. */
  readonly refused?: (() => void) | undefined
}

/** `account`: the ledger's at the end; `misfit`: why the server must be joined first. */
export interface Shipped {
  readonly account: Account
  readonly misfit: Misfit | undefined
}

/** Until the ledger has what the server had when it was asked last. `known`: an account that may be outdated. */
export async function ship({ log, ledger, took, refused }: ShipParts, known?: Account): Promise<Shipped> {
  let isFresh = known === undefined
  let account = known ?? (await ledger.account())
  for (;;) {
    const view = await log.after(account.head)
    const shipment = shipmentOf(account, view)
    if (shipment.kind === 'shipped') return { account, misfit: undefined }
    if (shipment.kind === 'append') {
      const { append } = shipment
      const moved = await ledger.append(append)
      account = moved.account
      isFresh = true
      if (!moved.done) {
        refused?.()
        continue
      }
      took?.(append.entries)
      await log.shipped(account.epoch, account.head)
      continue
    }
    // By an account that others have moved meanwhile a server seems to be what it is not: what it had at that head may be trimmed.
    if (shipment.kind === 'misfit' && isFresh) return { account, misfit: shipment.why }
    account = await ledger.account()
    isFresh = true
    demandLater(account, view)
  }
}

/** What the ledger has told a server it tells again, and more: asked after the server, it cannot be behind, or it has lost something. */
export function demandLater({ epoch, head }: Account, { meta, shipped }: ServerView): void {
  // One that was never joined to a ledger was told nothing.
  if (meta !== undefined && meta.joining > 0 && (meta.epoch > epoch || shipped > head.seq)) throw ledgerWentBack()
}
