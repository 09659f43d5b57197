/** Brings the ledger to where a server is. Any number of processes may be at it at once: what one of them has shipped the others skip. */
import type { Account } from '../../ledger/account.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'
import { type Misfit, shipmentOf } from '../../ledger/shipment.ts'
import type { ServerLog } from './server-log.ts'

export interface ShipParts {
  readonly log: Pick<ServerLog, 'after' | 'shipped'>
  readonly ledger: Pick<Ledger, 'account' | 'append'>
}

/** `account`: the ledger's at the end; `misfit`: why the server must be joined first. */
export interface Shipped {
  readonly account: Account
  readonly misfit: Misfit | undefined
}

/** Until the ledger has what the server had when it was asked last. `known`: an account that may be outdated. */
export async function ship({ log, ledger }: ShipParts, known?: Account): Promise<Shipped> {
  let isFresh = known === undefined
  let account = known ?? (await ledger.account())
  for (;;) {
    const shipment = shipmentOf(account, await log.after(account.head))
    if (shipment.kind === 'shipped') return { account, misfit: undefined }
    if (shipment.kind === 'append') {
      const moved = await ledger.append(shipment.append)
      account = moved.account
      isFresh = true
      if (moved.done) await log.shipped(account.epoch, account.head)
      continue
    }
    // By an account that others have moved meanwhile a server seems to be what it is not: what it had at that head may be trimmed.
    if (shipment.kind === 'misfit' && isFresh) return { account, misfit: shipment.why }
    account = await ledger.account()
    isFresh = true
  }
}
