/** A server is loaded: what is there is removed, page by page, and what the ledger has is done again. */
import type { Log } from '../../../system/log.ts'
import type { Account } from '../../ledger/account.ts'
import { BEGINNING, type Head, headOf, isSameHead } from '../../ledger/entry.ts'
import { afterLoad, type Join } from '../../ledger/join.ts'
import type { Ledger, WrittenEntry } from '../../ledger/ledger-port.ts'
import type { Server } from '../connection/backing.ts'
import { list, word, words } from '../connection/reply.ts'
import { portions } from '../script/portions.ts'

export interface LoadingParts {
  readonly server: Server
  readonly ledger: Pick<Ledger, 'after'>
  readonly lines: Log
  /** Where the ledger stands still. */
  readonly account: Account
}

/** Keys that the server is asked to look at, at once. */
const SCANNED = 1_000
/** Pages between two lines about it. */
const LINE_EVERY = 100

export class Loading {
  readonly #parts: LoadingParts
  /** Where the scan of what is to be removed has come to; undefined: it is done. */
  #cursor: string | undefined = '0'
  #head: Head = BEGINNING
  /** Read together with the account, and not written yet. */
  #entries: readonly WrittenEntry[] = []
  #read: Account

  constructor(parts: LoadingParts) {
    this.#parts = parts
    this.#read = parts.account
  }

  async page(page: number): Promise<Join<never>> {
    const { account, lines } = this.#parts
    if (page % LINE_EVERY === 0)
      lines.warn('Redis is loaded from its ledger', { page, entry: this.#head.seq, of: account.head.seq })
    return this.#cursor === undefined ? this.#bring(page) : this.#remove(page, this.#cursor)
  }

  /** Keys that are there all along are found by a scan, and nobody but who joins writes here meanwhile. */
  async #remove(page: number, from: string): Promise<Join<never>> {
    const { server, account } = this.#parts
    const base = server.meta.slice(0, -'meta'.length)
    const [cursor, found] = list(
      await server.send(['SCAN', from, 'MATCH', `${escaped(base)}*`, 'COUNT', String(SCANNED)]),
    )
    const keys = words(found).filter((key) => key !== server.meta)
    this.#cursor = word(cursor) === '0' ? undefined : word(cursor)
    return afterLoad(account, page, account, await this.#write(page, 'unlink', keys), this.#isEnd())
  }

  async #bring(page: number): Promise<Join<never>> {
    const { ledger, account } = this.#parts
    if (this.#entries.length === 0) {
      const read = await ledger.after(this.#head)
      this.#entries = (read.entries ?? []).filter(({ seq }) => seq <= account.head.seq)
      this.#read = read.account
    }
    const [some] = portions(this.#entries, ({ text }) => text.length)
    if (some === undefined) throw new Error(`pawl: the ledger's log does not go on after ${this.#head.seq}`)
    const texts = some.map(({ text }) => text)
    const isWritten = await this.#write(page, 'entries', texts)
    this.#entries = this.#entries.slice(some.length)
    this.#head = headOf(some.at(-1) ?? this.#head)
    return afterLoad(account, page, this.#read, isWritten, this.#isEnd())
  }

  #isEnd(): boolean {
    return this.#cursor === undefined && isSameHead(this.#head, this.#parts.account.head)
  }

  async #write(page: number, kind: 'unlink' | 'entries', what: readonly string[]): Promise<boolean> {
    const { server, account } = this.#parts
    return (await server.run('page', [String(account.epoch), String(page), kind, ...what])) === 'yes'
  }
}

const escaped = (text: string): string => text.replaceAll(/[*?[\]\\^]/g, '\\$&')
