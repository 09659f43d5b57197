/**
 * Who waits for the ledger, and what it takes that it has what they wait for. One round at a time in this process: who comes during
 * one is in the next, so the more there are, the more go with each commit.
 *
 *   round   the turn is taken, or another process has it; then what the server has is shipped. Of all who wait the ledger is asked what
 *           has become of them, unless this process has shipped it itself. Who is neither there nor on the server any more is lost: only
 *           the next epoch decides about them, so the server is joined.
 *
 * The turn is only for saving work: what two ship the ledger takes once, and one who was stopped finds that the account has moved on.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Meter } from '../../../system/meter.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Account } from '../../ledger/account.ts'
import { BEGINNING, type Head } from '../../ledger/entry.ts'
import { type Awaited, type Fate, fateOf, isLost, type LedgerView, tellingOf } from '../../ledger/fate.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'
import type { Misfit } from '../../ledger/shipment.ts'
import type { Server } from '../connection/backing.ts'
import { closed } from '../connection/trouble.ts'
import type { Joiner } from './joiner.ts'
import type { ServerLog } from './server-log.ts'
import { ship } from './ship.ts'

export interface ShippingParts {
  readonly server: Server
  readonly log: ServerLog
  readonly ledger: Ledger
  readonly joiner: Pick<Joiner, 'join'>
  /** Where the ledger was found to be. */
  readonly heard: (account: Account) => void
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  /** How long somebody waits while the ledger or the server is away. */
  readonly retryForMs: number
  readonly meter: Meter
}

interface Waiting {
  readonly awaited: Awaited
  readonly untilMs: number
  /** Tells what became of it, if this view of the ledger says so; answers whether it does. */
  readonly decide: (view: LedgerView) => boolean
  readonly reject: (error: unknown) => void
}

/** How long a shipper keeps its turn without a word, and how long another waits for it. */
const TURN_MS = 100
/** At first, then twice as long each time: most turns are over in a few milliseconds. */
const ASK_AGAIN_MS = 2
const ASK_AGAIN_MOST_MS = 20
const PAUSE_MS = 50
/** Of the last entries that this process has shipped: so many names are known without asking. */
const REMEMBERED = 4_096

export class Shipping {
  readonly #parts: ShippingParts
  readonly #names = new Map<number, string>()
  #waiting: Waiting[] = []
  /** By nobody who waits. It stays so until this process has had a turn: who has one now may have looked at the log already. */
  #isWanted = false
  #running: Promise<void> | undefined
  /** A look is due. Where another has the turn it is at what was to be looked at, and the next look finds what it has left. */
  #isLookDue = false
  /** The ledger's, as this process has heard of it last. */
  #account: Account | undefined
  /** Others may have moved the account, and the server may have gone back to what this process knows of it. */
  #isOutdated = false
  #askAgainMs = ASK_AGAIN_MS
  #isClosed = false
  readonly #heardOf = {
    took: (entries: readonly Head[]) => this.#took(entries),
    refused: () => this.#parts.meter.add('pawl_ledger_refused_appends_total', 1, {}),
  }

  constructor(parts: ShippingParts) {
    this.#parts = parts
  }

  /** As far as it is known: what a call that begins now writes comes after it. */
  get head(): Head | undefined {
    return this.#account?.head
  }

  /** When the ledger has it, or never will. */
  fateOf(awaited: Awaited): Promise<Exclude<Fate, 'open'>> {
    return this.#wait(awaited, (view) => {
      const fate = fateOf(awaited, view)
      return fate === 'open' ? undefined : fate
    })
  }

  /** Whether what a script saw may be told, once that is known; otherwise it is to look again. */
  async mayTell(seen: Awaited & Head): Promise<boolean> {
    const telling = await this.#wait(seen, (view) => {
      const known = tellingOf(seen, view)
      return known === 'wait' ? undefined : known
    })
    return telling === 'tell'
  }

  /** What is on the server goes to the ledger, although nobody waits for it. */
  start(): void {
    this.#isWanted = true
    this.#go()
  }

  /** The same, and the ledger is asked where it is: whatever this process knows of it may be what others have moved since. */
  look(): void {
    this.#isOutdated = true
    this.#isLookDue = true
    this.#go()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  #go(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isNeeded && !this.#isClosed) this.#go()
    })
  }

  get #isNeeded(): boolean {
    return this.#isWanted || this.#isLookDue || this.#waiting.length > 0
  }

  #wait<T>(awaited: Awaited, judge: (view: LedgerView) => T | undefined): Promise<T> {
    const { clock, retryForMs } = this.#parts
    return new Promise((resolve, reject) => {
      const decide = (view: LedgerView): boolean => {
        const known = judge(view)
        if (known !== undefined) resolve(known)
        return known !== undefined
      }
      this.#waiting.push({ awaited, untilMs: clock.monotonicMs() + retryForMs, decide, reject })
      this.#go()
    })
  }

  async #run(): Promise<void> {
    const { timers } = this.#parts
    while (this.#isNeeded) {
      if (this.#isClosed) return this.#giveUp(closed(), Number.POSITIVE_INFINITY)
      try {
        await this.#round()
      } catch (error) {
        this.#giveUp(error, this.#parts.clock.monotonicMs())
        this.#isWanted = true
        await timers.sleep(PAUSE_MS)
      }
    }
  }

  async #round(): Promise<void> {
    const { joiner } = this.#parts
    const isMine = await this.#isMyTurn()
    this.#isLookDue = false
    if (!isMine && !this.#isNeeded) return
    const misfit = isMine ? await this.#ship() : await this.#pause()
    const open = await this.#decide(this.#waiting)
    const lost = misfit === undefined && open.length > 0 ? await this.#lostAmong(open) : 0
    if (misfit !== undefined || lost > 0) await joiner.join(lost)
  }

  /** The latest epoch of those of whom nothing is left on a server that has shipped all it had; 0 where there are none. */
  async #lostAmong(open: readonly Waiting[]): Promise<number> {
    const { log, ledger } = this.#parts
    const { account, misfit } = await ship({ log, ledger, ...this.#heardOf })
    this.#hear(account)
    if (misfit !== undefined) return 0
    const view = await log.after(account.head)
    const left = (await this.#decide(open)).filter(({ awaited }) => isLost(awaited, view))
    return Math.max(0, ...left.map(({ awaited }) => awaited.epoch))
  }

  #hear(account: Account): void {
    this.#account = account
    this.#parts.heard(account)
  }

  async #pause(): Promise<undefined> {
    await this.#parts.timers.sleep(this.#askAgainMs)
    this.#askAgainMs = Math.min(ASK_AGAIN_MOST_MS, this.#askAgainMs * 2)
  }

  async #isMyTurn(): Promise<boolean> {
    const { server } = this.#parts
    return (await server.send(['SET', turnOf(server), server.process, 'NX', 'PX', String(TURN_MS)])) !== null
  }

  async #ship(): Promise<Misfit | undefined> {
    const { log, ledger, server } = this.#parts
    this.#askAgainMs = ASK_AGAIN_MS
    this.#isWanted = false
    try {
      const known = this.#isOutdated ? undefined : this.#account
      const { account, misfit } = await ship({ log, ledger, ...this.#heardOf }, known)
      this.#isOutdated = false
      this.#hear(account)
      return misfit
    } finally {
      // Nobody minds where it is another's by now.
      server.send(['DEL', turnOf(server)]).catch(() => {})
    }
  }

  /** Who waits for one of these is told at once. */
  #took(entries: readonly Head[]): void {
    for (const { seq, name } of entries) this.#names.set(seq, name)
    this.#tell(this.#waiting, this.#known())
    for (const seq of this.#names.keys()) {
      if (this.#names.size <= REMEMBERED) return
      this.#names.delete(seq)
    }
  }

  /** Tells those about whom something is known. Answers with the others. */
  async #decide(some: readonly Waiting[]): Promise<readonly Waiting[]> {
    const open = this.#tell(some, this.#known())
    if (open.length === 0) return open
    const view = await this.#parts.ledger.look(open.map(({ awaited }) => awaited))
    this.#hear(view.account)
    return this.#tell(open, view)
  }

  /** What this process has shipped itself. It knows nothing of epochs that others have begun. */
  #known(): LedgerView {
    return { account: UNKNOWN, nameAt: (seq) => this.#names.get(seq), has: () => false }
  }

  #tell(some: readonly Waiting[], view: LedgerView): readonly Waiting[] {
    const told = new Set(some.filter(({ decide }) => decide(view)))
    if (told.size > 0) this.#waiting = this.#waiting.filter((each) => !told.has(each))
    return some.filter((each) => !told.has(each))
  }

  #giveUp(error: unknown, nowMs: number): void {
    const over = this.#waiting.filter(({ untilMs }) => untilMs <= nowMs)
    this.#waiting = this.#waiting.filter((each) => !over.includes(each))
    for (const { reject } of over) reject(error)
  }
}

/** By it nothing has come to nothing. */
const UNKNOWN: Account = { epoch: 0, head: BEGINNING, at: 0, folded: 0, keptFrom: 1 }

/** Of a ledger of which nothing is known but its head. */
export const headView = ({ seq, name }: Head): LedgerView => ({
  account: UNKNOWN,
  nameAt: (at) => (at === seq ? name : undefined),
  has: () => false,
})

const turnOf = ({ meta }: Server): string => meta.replace(/meta$/, 'turn')
