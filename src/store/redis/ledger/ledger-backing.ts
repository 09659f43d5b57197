/**
 * A ledger behind a server: an answer is given when the ledger has what it is about.
 *
 * What a call has written is known by its name. A call that has written nothing has looked, whatever it was meant to do, and what it saw is
 * told if the ledger has it, and if the server was not behind the ledger when the call began: so the ledger is asked for its head, at first
 * by calls that can only look, by others once they have found nothing to write, and then they look again.
 */
import { assert } from '../../../core/assert.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { LedgerStanding, Meter } from '../../../system/meter.ts'
import type { Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import { within } from '../../../system/within.ts'
import type { Account } from '../../ledger/account.ts'
import { BEGINNING, type Head } from '../../ledger/entry.ts'
import { tellingOf } from '../../ledger/fate.ts'
import type { Finding } from '../../ledger/finding.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'
import type { Backing, Called, EvictedJobs, Server } from '../connection/backing.ts'
import { list, type Reply, word, words } from '../connection/reply.ts'
import { RedisStoreError } from '../connection/trouble.ts'
import { BEHIND, patienceOf, REJOIN, type ScriptName } from '../script/scripts.ts'
import { type ComparingParts, compared } from './comparing.ts'
import { Folding } from './folding.ts'
import { FreshHead } from './fresh-head.ts'
import { Joiner } from './joiner.ts'
import { LedgersJobs } from './ledgers-jobs.ts'
import { Looking } from './looking.ts'
import { ServerLog } from './server-log.ts'
import { headView, Shipping } from './shipping.ts'

export interface LedgerBackingParts {
  readonly ledger: Ledger
  /** Whom an answer waits for. */
  readonly ack: 'ledger' | 'redis'
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly random: Random
  readonly lines: Log
  readonly retryForMs: number
  readonly meter: Meter
}

/** Those that put off what they hand out: asked again they would hand out nothing. */
const HANDS_OUT: ReadonlySet<ScriptName> = new Set(['due', 'unjudged'])

const CLOSE_WITHIN_MS = 1_000

/** Entries of the ledger's log that may wait to be folded. */
const UNFOLDED = 1_000_000

interface Seen {
  readonly answer: readonly Reply[]
  readonly head: Head
}

export class LedgerBacking implements Backing {
  readonly #parts: LedgerBackingParts
  readonly #joiner: Joiner
  readonly #shipping: Shipping
  readonly #fresh: FreshHead
  readonly #folding: Folding
  /** Not before there is something to look at: an opening that fails leaves nothing behind that goes on. */
  #looking: Looking | undefined
  /** Entries that the ledger's log has and its tables have not, as far as this process has heard. */
  #unfolded = 0
  #isClosed = false
  readonly evicted: EvictedJobs
  readonly #comparing: ComparingParts

  constructor(parts: LedgerBackingParts, server: Server) {
    const { ledger } = parts
    const log = new ServerLog(server)
    const heard = (account: Account) => this.#hear(account)
    this.#parts = parts
    this.#folding = new Folding({ ...parts, server })
    this.evicted = new LedgersJobs({ ledger, folding: this.#folding })
    this.#comparing = { server, ledger, log, folding: this.#folding }
    this.#fresh = new FreshHead(ledger, heard)
    this.#joiner = new Joiner({ ...parts, server, log, folding: this.#folding })
    this.#shipping = new Shipping({ ...parts, server, log, joiner: this.#joiner, heard })
  }

  async join(): Promise<string> {
    const epoch = String(await this.#joiner.join())
    if (!this.#isClosed) this.#looking ??= new Looking(this.#shipping, this.#parts.timers)
    return epoch
  }

  async answer(call: Called): Promise<readonly Reply[] | undefined> {
    this.#demandRoom(call.script)
    if (this.#parts.ack === 'redis') return this.#unawaited(call)
    const known = this.#shipping.head ?? BEGINNING
    const looksOnly = call.name === undefined || HANDS_OUT.has(call.script)
    let looked = looksOnly ? await this.#fresh.head() : undefined
    for (;;) {
      const { answer, head } = seenIn(await call.send())
      if (answer[0] === REJOIN) return answer
      if (head.name === call.name) return (await this.#isWritten(call, head, known)) ? answer : undefined
      const seen = { ...head, epoch: Number(call.epoch) }
      if (looked !== undefined) return (await this.#shipping.mayTell({ ...seen, looked })) ? answer : undefined
      looked = await this.#fresh.head()
      if (tellingOf({ ...seen, looked }, headView(looked)) === 'tell') return answer
    }
  }

  async compared(told: (pieces: number) => void): Promise<readonly Finding[]> {
    return compared(this.#comparing, told)
  }

  async standing(): Promise<LedgerStanding> {
    const { ledger, log, server } = this.#comparing
    const { head, folded } = await ledger.account()
    const { count, since } = await log.unshipped(head)
    const logged = Number(await server.send(['XLEN', server.meta.replace(/meta$/, 'entries')]))
    const [seconds = 0, micros = 0] = words(await server.send(['TIME'])).map(Number)
    const now = seconds * 1_000 + micros / 1_000
    const unshippedMs = since === undefined ? 0 : Math.max(0, now - since)
    return { logged, unshipped: count, unshippedMs, unfolded: head.seq - folded }
  }

  /** What is under way has a second to end; then the ledger's connections are closed, and it fails. What it was at is still on the server, for the next process. */
  async close(): Promise<void> {
    const { ledger, timers } = this.#parts
    this.#isClosed = true
    await within(
      timers,
      CLOSE_WITHIN_MS,
      Promise.all([this.#looking?.close(), this.#shipping.close(), this.#folding.close()]),
    )
    await ledger[Symbol.asyncDispose]()
  }

  #hear({ head, folded }: Account): void {
    this.#unfolded = head.seq - folded
    if (this.#unfolded > 0) this.#folding.start()
  }

  /** A log that nobody folds must not grow for ever: nothing new is taken on then, and what is under way is ended for twice as long. */
  #demandRoom(script: ScriptName): void {
    const most = UNFOLDED * patienceOf(script)
    if (this.#unfolded >= most) throw new Error(`${BEHIND} ${this.#unfolded} entries of its log wait to be folded`)
  }

  async #unawaited({ send, name }: Called): Promise<readonly Reply[]> {
    const { answer, head } = seenIn(await send())
    if (head.name === name) this.#shipping.start()
    return answer
  }

  async #isWritten({ epoch }: Called, { seq, name }: Head, looked: Head): Promise<boolean> {
    const fate = await this.#shipping.fateOf({ epoch: Number(epoch), name, seq, looked })
    if (fate === 'forgotten') throw unknown()
    return fate === 'there'
  }
}

function seenIn(reply: Reply): Seen {
  const [answer, seq, name] = list(reply)
  assert(seq !== undefined, 'a call is answered with the head that it saw')
  return { answer: list(answer), head: { seq: Number(word(seq)), name: word(name) } }
}

const unknown = (): RedisStoreError =>
  new RedisStoreError(
    'UNAVAILABLE',
    'pawl: the ledger was away for so long that it does not remember any more whether it has what was asked. Asked again under the same id it is done once.',
  )
