/** The log of a server as it would write it: entries one after the other, each by a name of its own. */
import { BEGINNING, type Head } from '../../../src/store/ledger/entry.ts'
import type { WrittenEntry } from '../../../src/store/ledger/ledger-port.ts'
import type { Meta } from '../../../src/store/ledger/meta.ts'
import type { LogView } from '../../../src/store/ledger/shipment.ts'

/** So many entries after this head, by this process. */
export function written(count: number, by: string, after: Head = BEGINNING): WrittenEntry[] {
  const entries: WrittenEntry[] = []
  let { seq, name } = after
  for (let n = 0; n < count; n += 1) {
    const prev = name
    seq += 1
    name = `${by}.${seq}`
    entries.push({ seq, name, prev, at: 1_000 + seq, text: `${name} "says" \\ {a,b} \n ‹ü›` })
  }
  return entries
}

/** What a shipper reads of a server with these entries that was joined in this epoch. */
export function viewOf(entries: readonly WrittenEntry[], epoch: number): LogView<WrittenEntry> {
  const { seq, name, at } = entries.at(-1) ?? { ...BEGINNING, at: 0 }
  const meta: Meta = {
    epoch,
    head: { seq, name },
    at,
    incarnation: 'life',
    copy: 1,
    joining: epoch,
    evicted: 0,
  }
  return { meta, entries }
}
