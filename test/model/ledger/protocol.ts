/** The protocol under examination: the shipped one, or one in a copy of the sources with one line changed. */
import * as account from '../../../src/store/ledger/account.ts'
import * as entry from '../../../src/store/ledger/entry.ts'
import * as eviction from '../../../src/store/ledger/eviction.ts'
import * as fate from '../../../src/store/ledger/fate.ts'
import * as fold from '../../../src/store/ledger/fold.ts'
import * as join from '../../../src/store/ledger/join.ts'
import * as meta from '../../../src/store/ledger/meta.ts'
import * as shipment from '../../../src/store/ledger/shipment.ts'

export const SHIPPED_PROTOCOL = { ...account, ...entry, ...eviction, ...fate, ...fold, ...join, ...meta, ...shipment }

export type Protocol = typeof SHIPPED_PROTOCOL

const FILES = ['account', 'entry', 'eviction', 'fate', 'fold', 'join', 'meta', 'shipment']

export async function loadProtocol(at: URL): Promise<Protocol> {
  const parts = await Promise.all(FILES.map((file) => import(new URL(`store/ledger/${file}.ts`, at).href)))
  return Object.assign({}, ...parts)
}
