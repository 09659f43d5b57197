/** A server is loaded: what is there is removed, page by page, and what the ledger's image has is written. */
import type { Log } from '../../../system/log.ts'
import type { Account } from '../../ledger/account.ts'
import { commandsFor, type Piece } from '../../ledger/image.ts'
import { afterLoad, type Join } from '../../ledger/join.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'
import type { Server } from '../connection/backing.ts'
import { list, word, words } from '../connection/reply.ts'
import { portions } from '../script/portions.ts'
import type { Folding } from './folding.ts'

export interface LoadingParts {
  readonly server: Server
  readonly ledger: Pick<Ledger, 'imageAfter'>
  readonly folding: Pick<Folding, 'toHead'>
  readonly lines: Log
  /** Where the ledger stands still. */
  readonly account: Account
}

/** Keys that the server is asked to look at, at once. */
const SCANNED = 1_000
/** Pieces of the image that are written at once. */
const AT_ONCE = 1_000
/** Pages between two lines about it. */
const LINE_EVERY = 100

export class Loading {
  readonly #parts: LoadingParts
  /** Where the scan of what is to be removed has come to; undefined: it is done. */
  #cursor: string | undefined = '0'
  /** Where the image was read up to; undefined: not yet. */
  #after: string | undefined
  #isRead = false
  /** Read together with the account, and not written yet. */
  #pieces: readonly Piece[] = []
  #read: Account
  #written = 0

  constructor(parts: LoadingParts) {
    this.#parts = parts
    this.#read = parts.account
  }

  async page(page: number): Promise<Join<never>> {
    const { account, lines } = this.#parts
    if (page % LINE_EVERY === 0)
      lines.warn('Redis is loaded from its ledger', { page, pieces: this.#written, entry: account.head.seq })
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
    return afterLoad(account, page, undefined, await this.#write(page, 'unlink', keys), false)
  }

  /** The ledger stands still while a server is joined: once all of its log is folded, its image is the same from page to page. */
  async #bring(page: number): Promise<Join<never>> {
    const { account, folding, ledger } = this.#parts
    if (this.#after === undefined) await folding.toHead()
    if (this.#pieces.length === 0) {
      const read = await ledger.imageAfter(this.#after)
      this.#read = read.account
      this.#pieces = read.pieces
      this.#after = read.cursor ?? this.#after
      this.#isRead = read.cursor === undefined
    }
    const [some = []] = portions(this.#pieces, ({ value }) => value.length, AT_ONCE)
    const isWritten = await this.#write(page, 'entries', [JSON.stringify(commandsFor(some))])
    this.#pieces = this.#pieces.slice(some.length)
    this.#written += some.length
    return afterLoad(account, page, this.#read, isWritten, this.#isRead)
  }

  async #write(page: number, kind: 'unlink' | 'entries', what: readonly string[]): Promise<boolean> {
    const { server, account } = this.#parts
    return (await server.run('page', [String(account.epoch), String(page), kind, ...what])) === 'yes'
  }
}

const escaped = (text: string): string => text.replaceAll(/[*?[\]\\^]/g, '\\$&')
