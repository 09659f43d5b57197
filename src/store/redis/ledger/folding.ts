/**
 * Who folds the ledger's log, and when: one process at a time, by a turn, as long as the log has something that the tables have not. Not
 * at once but a little later: what begins and ends in between is written once.
 *
 * The turn is only for saving work: of two who fold the same, the ledger takes one.
 */
import { assert } from '../../../core/assert.ts'
import type { Kind } from '../../../core/job.ts'
import { reasonOf } from '../../../core/reason.ts'
import type { Log } from '../../../system/log.ts'
import type { Timers } from '../../../system/timers.ts'
import { kindOf } from '../../codec/kind.ts'
import type { Account } from '../../ledger/account.ts'
import { unfolded } from '../../ledger/fold.ts'
import { type Command, imageChange } from '../../ledger/image.ts'
import type { FoldStep, Ledger, WrittenEntry } from '../../ledger/ledger-port.ts'
import type { Server } from '../connection/backing.ts'
import type { Reply } from '../connection/reply.ts'
import { isPassing } from '../connection/trouble.ts'
import { bornKey, kindsIn, reportOf, type WrittenJobs, writtenJobs } from './reported.ts'

export interface FoldingParts {
  readonly server: Server
  readonly ledger: Pick<Ledger, 'account' | 'unfolded' | 'fold' | 'pieces'>
  readonly timers: Timers
  readonly lines: Log
}

/** How long what was shipped waits to be folded, and how long another's turn is waited for. */
const PAUSE_MS = 500
/** How long somebody who folds keeps its turn without a word. */
const TURN_MS = 5_000
/** Between two pages: somebody else may be at it. */
const YIELD_MS = 5
const AFTER_TROUBLE_MS = 5_000
const KINDS = 'kinds'

export class Folding {
  readonly #parts: FoldingParts
  readonly #kinds = new Map<string, Kind>()
  #running: Promise<void> | undefined
  #isWanted = false
  /** That it fails, since it last did not. */
  #isTold = false
  readonly #closing = new AbortController()

  constructor(parts: FoldingParts) {
    this.#parts = parts
  }

  /** There may be something to fold. */
  start(): void {
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted && !this.#closing.signal.aborted) this.start()
    })
  }

  /** Until the tables have what the log has now, and this entry. Another process may fold meanwhile. */
  async toHead(entry = 0): Promise<Account> {
    const { head } = await this.#parts.ledger.account()
    for (;;) {
      const account = await this.#fold()
      if (account.folded >= Math.max(entry, head.seq)) return account
      await this.#parts.timers.sleep(YIELD_MS)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { timers, lines } = this.#parts
    const { signal } = this.#closing
    while (this.#isWanted && !signal.aborted) {
      this.#isWanted = false
      await timers.sleep(PAUSE_MS, signal)
      try {
        if (!(await this.#round())) this.#isWanted = true
        this.#isTold = false
      } catch (error) {
        if (signal.aborted) return
        if (!this.#isTold)
          lines.error('the log of the ledger is not folded; it is tried again', { reason: reasonOf(error) })
        this.#isTold = true
        this.#isWanted = true
        await timers.sleep(AFTER_TROUBLE_MS, signal)
      }
    }
  }

  /** Whether there is nothing left to fold. */
  async #round(): Promise<boolean> {
    const { server } = this.#parts
    const turn = server.meta.replace(/meta$/, 'folds')
    const taken = ['SET', turn, server.process, 'NX', 'PX', String(TURN_MS)]
    if ((await server.send(taken).catch(awaited)) === null) {
      const { folded, head } = await this.#parts.ledger.account()
      return folded === head.seq
    }
    try {
      for (;;) {
        const { folded, head } = await this.#fold()
        if (folded === head.seq || this.#closing.signal.aborted) return true
        await server.send(['PEXPIRE', turn, String(TURN_MS)]).catch(awaited)
      }
    } finally {
      // Nobody minds where it is another's by now.
      server.send(['DEL', turn]).catch(() => {})
    }
  }

  /** A page of the log. Answers with the account, which another process may have moved. */
  async #fold(): Promise<Account> {
    const { ledger } = this.#parts
    const page = await ledger.unfolded()
    const entries = unfolded(page.account, page.entries)
    if (entries.length === 0) {
      assert(page.account.folded === page.account.head.seq, 'what is not folded is in the log')
      return page.account
    }
    const { account } = await ledger.fold(await this.#step(page.account.folded, entries))
    return account
  }

  async #step(from: number, entries: readonly WrittenEntry[]): Promise<FoldStep> {
    const said = entries.map(({ at, text }) => ({ at, commands: JSON.parse(text) as readonly Command[] }))
    const image = imageChange(said.map(({ commands }) => commands))
    for (const [name, piece] of image.get(KINDS)?.pieces ?? [])
      if (piece !== undefined) this.#kinds.set(name, kindOf(piece.value))
    const jobs = writtenJobs(said)
    const born = await this.#learn(jobs)
    const report = reportOf(
      jobs,
      (digits) => born.get(bornKey(digits)),
      (number) => this.#kind(number),
    )
    const last = entries.at(-1)
    assert(last !== undefined, 'something is folded')
    return { from, to: last.seq, at: last.at, image, report }
  }

  /** What these entries do not say themselves: what jobs were born with, and kinds. */
  async #learn(jobs: WrittenJobs): Promise<ReadonlyMap<string, string>> {
    const keys: string[] = []
    for (const [digits, { born, isPurged, texts, pushed }] of jobs)
      if (born === undefined && !isPurged && texts.length + pushed.size > 0) keys.push(bornKey(digits))
    if ([...kindsIn(jobs)].some((number) => !this.#kinds.has(number))) keys.push(KINDS)
    const born = new Map<string, string>()
    if (keys.length === 0) return born
    for (const { key, name, value } of (await this.#parts.ledger.pieces(keys)).pieces) {
      if (key === KINDS) this.#kinds.set(name, kindOf(value))
      else born.set(key, value)
    }
    return born
  }

  #kind(number: string): Kind {
    const kind = this.#kinds.get(number)
    assert(kind !== undefined, `kind ${number} was told before a job of it`)
    return kind
  }
}

/** A server that is away has no turns to give: the ledger sees to it that only one of those who fold does. */
function awaited(error: unknown): Reply {
  if (!isPassing(error)) throw error
  return 'OK'
}
