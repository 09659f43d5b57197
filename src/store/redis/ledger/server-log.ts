/** The log of a server that has a ledger behind it, as shippers and joiners ask it. */
import { assert } from '../../../core/assert.ts'
import { type Head, headOf } from '../../ledger/entry.ts'
import type { WrittenEntry } from '../../ledger/ledger-port.ts'
import type { LogView } from '../../ledger/shipment.ts'
import type { Calls } from '../connection/calls.ts'
import { list, words } from '../connection/reply.ts'

/** Entries of one answer: each is at most what one call has written. */
const PAGE = 256
/** How long entries are kept that the ledger has: one that fails over and loses its own tail is healed from them. */
const KEEP_MS = 60_000

export class ServerLog {
  readonly #calls: Pick<Calls, 'unjoined'>

  constructor(calls: Pick<Calls, 'unjoined'>) {
    this.#calls = calls
  }

  /** A page of the log is the log as it was when its last entry was written: `meta` says no more than that. */
  async after({ seq }: Head): Promise<LogView<WrittenEntry>> {
    const [epoch, logged, name, at, incarnation, copy, joining, evicted, ...rows] = list(
      await this.#calls.unjoined('unshipped', [String(seq), String(PAGE)]),
    )
    if (epoch === undefined) return { meta: undefined, entries: [] }
    const entries = rows.map((row) => entryOf(words(row)))
    const last = entries.length === PAGE ? entries.at(-1) : undefined
    const head = last === undefined ? { seq: Number(logged), name: String(name) } : headOf(last)
    return {
      meta: {
        epoch: Number(epoch),
        head,
        at: last?.at ?? Number(at),
        incarnation: String(incarnation),
        copy: Number(copy),
        joining: Number(joining),
        evicted: Number(evicted),
      },
      entries,
    }
  }

  /** The ledger has taken the log of this epoch up to here. */
  async shipped(epoch: number, { seq }: Head): Promise<void> {
    await this.#calls.unjoined('shipped', [String(epoch), String(seq), String(KEEP_MS)])
  }
}

function entryOf([seq, name, prev, at, text]: readonly string[]): WrittenEntry {
  assert(name !== undefined && prev !== undefined && text !== undefined, 'an entry has a name, and says something')
  return { seq: Number(seq), name, prev, at: Number(at), text }
}
