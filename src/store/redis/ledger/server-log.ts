/** The log of a server that has a ledger behind it, as shippers and joiners ask it. */
import { assert } from '../../../core/assert.ts'
import { type Head, headOf } from '../../ledger/entry.ts'
import type { WrittenEntry } from '../../ledger/ledger-port.ts'
import type { Meta } from '../../ledger/meta.ts'
import type { LogView } from '../../ledger/shipment.ts'
import type { Server } from '../connection/backing.ts'
import { list, words } from '../connection/reply.ts'

/** Entries of one answer, at most; of large ones it is fewer. */
const PAGE = 256
/** How long entries are kept that the ledger has: one that fails over and loses its own tail is healed from them. */
const KEEP_MS = 60_000

export interface ServerView extends LogView<WrittenEntry> {
  /** What the server was told that the ledger has. */
  readonly shipped: number
  /** How many pages a load has brought that is not over. */
  readonly pages: number
}

export class ServerLog {
  readonly #server: Pick<Server, 'run'>

  constructor(server: Pick<Server, 'run'>) {
    this.#server = server
  }

  /** What the server knows of itself. */
  async meta(): Promise<Meta | undefined> {
    return (await this.#page(0, 0)).meta
  }

  /** A page of the log is the log as it was when its last entry was written: `meta` says no more than that. */
  async after({ seq }: Head): Promise<ServerView> {
    const page = await this.#page(seq, PAGE)
    const { meta, entries } = page
    const last = entries.at(-1)
    if (meta === undefined || last === undefined || last.seq >= meta.head.seq) return page
    return { ...page, meta: { ...meta, head: headOf(last), at: last.at } }
  }

  async #page(after: number, most: number): Promise<ServerView> {
    const [epoch, logged, name, at, incarnation, copy, joining, evicted, shipped, pages, ...rows] = list(
      await this.#server.run('unshipped', [String(after), String(most)]),
    )
    if (epoch === undefined) return { meta: undefined, entries: [], shipped: 0, pages: 0 }
    return {
      meta: {
        epoch: Number(epoch),
        head: { seq: Number(logged), name: String(name) },
        at: Number(at),
        incarnation: String(incarnation),
        copy: Number(copy),
        joining: Number(joining),
        evicted: Number(evicted),
      },
      entries: rows.map((row) => entryOf(words(row))),
      shipped: Number(shipped),
      pages: Number(pages),
    }
  }

  /** How many entries there are after this head, and when the first of them was written. */
  async unshipped({ seq }: Head): Promise<{ readonly count: number; readonly since: number | undefined }> {
    const { meta, entries } = await this.#page(seq, 1)
    return { count: Math.max(0, (meta?.head.seq ?? 0) - seq), since: entries[0]?.at }
  }

  /** The ledger has taken the log of this epoch up to here. */
  async shipped(epoch: number, { seq }: Head): Promise<void> {
    await this.#server.run('shipped', [String(epoch), String(seq), String(KEEP_MS)])
  }
}

function entryOf([seq, name, prev, at, text]: readonly string[]): WrittenEntry {
  assert(name !== undefined && prev !== undefined && text !== undefined, 'an entry has a name, and says something')
  return { seq: Number(seq), name, prev, at: Number(at), text }
}
