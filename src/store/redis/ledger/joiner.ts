/**
 * Makes the server fit the ledger, step by step as `store/ledger/join.ts` decides. One join at a time in this process; any number of
 * other processes may be at any step, and where one of them has come further this one looks again.
 */
import { assert } from '../../../core/assert.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { Meter } from '../../../system/meter.ts'
import { fractionOf, type Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Account } from '../../ledger/account.ts'
import { type Head, headOf, isSameHead } from '../../ledger/entry.ts'
import {
  afterCompare,
  afterFence,
  afterLook,
  afterMark,
  afterMeasure,
  afterOpen,
  afterReplay,
  afterShip,
  type Join,
  LOOK,
} from '../../ledger/join.ts'
import type { Ledger, WrittenEntry } from '../../ledger/ledger-port.ts'
import { type Meta, opened } from '../../ledger/meta.ts'
import { type Patience, patienceWith } from '../../ledger/patience.ts'
import { type Shipment, shipmentOf } from '../../ledger/shipment.ts'
import type { Server } from '../connection/backing.ts'
import { incarnationOf } from '../connection/info.ts'
import { RedisStoreError } from '../connection/trouble.ts'
import { portions } from '../script/portions.ts'
import type { Folding } from './folding.ts'
import { Loading } from './loading.ts'
import type { ServerLog, ServerView } from './server-log.ts'
import { demandLater } from './ship.ts'

export interface JoinerParts {
  readonly server: Server
  readonly log: ServerLog
  readonly ledger: Ledger
  readonly folding: Pick<Folding, 'toHead'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly random: Random
  readonly lines: Log
  readonly meter: Meter
}

type Step = Join<WrittenEntry>

/** Entries that are replayed at most; what lacks more is loaded. */
const REPLAYED = 10_000
/** Entries of one call. */
const AT_ONCE = 100
/** How often somebody who waits for another that joins looks for signs of it. */
const LOOK_AGAIN_MS = 50

export class Joiner {
  readonly #parts: JoinerParts
  #underWay: Promise<number> | undefined
  #incarnation = ''
  /** What the server knew of itself when it was measured. */
  #measured: Meta | undefined
  #patience: Patience | undefined
  #loading: Loading | undefined
  /** Why the next epoch is taken. */
  #reason = ''

  constructor(parts: JoinerParts) {
    this.#parts = parts
  }

  /** The epoch that the server is joined in. `lost`: as in `afterCompare`. */
  join(lost = 0): Promise<number> {
    const before = this.#underWay
    if (before !== undefined)
      return lost === 0 ? before : before.then((epoch) => (epoch > lost ? epoch : this.join(lost)))
    const underWay = this.#run(lost).finally(() => {
      this.#underWay = undefined
    })
    this.#underWay = underWay
    return underWay
  }

  async #run(lost: number): Promise<number> {
    this.#patience = undefined
    for (let step: Step = LOOK; ; step = await this.#next(step, lost)) if (step.step === 'joined') return step.epoch
  }

  async #next(step: Exclude<Step, { step: 'joined' }>, lost: number): Promise<Step> {
    const { ledger, log, server } = this.#parts
    switch (step.step) {
      case 'look':
        this.#incarnation = await incarnationOf(server.send)
        return afterLook(await ledger.account())
      case 'compare': {
        const view = await log.after(step.account.head)
        const next = afterCompare(step.account, view, this.#incarnation, lost)
        if (next.step === 'fence' || next.step === 'look') demandLater(await ledger.account(), view)
        this.#reason = reasonOf(shipmentOf(step.account, view), lost)
        return this.#patiently(next, step.account, view)
      }
      case 'ship': {
        const { done, account } = await ledger.append(step.append)
        // A page of the server's log: what comes after it goes to the ledger before the epoch does.
        return done && !(await this.#isShipped(account)) ? LOOK : afterShip(done, account)
      }
      case 'fence': {
        const { done, account } = await ledger.fence(step.account.epoch)
        return afterFence(done, account)
      }
      case 'mark':
        return afterMark(step.account, await this.#mark(step.account))
      case 'measure': {
        const meta = await log.meta()
        this.#measured = meta
        const missing = meta === undefined || meta.copy === 0 ? undefined : await this.#missing(meta.head, step.account)
        return afterMeasure(step.account, meta, missing)
      }
      default:
        return this.#write(step)
    }
  }

  async #write(step: Extract<Step, { step: 'replay' | 'load' | 'open' }>): Promise<Step> {
    const { server, ledger, folding, lines } = this.#parts
    const { account } = step
    const epoch = String(account.epoch)
    switch (step.step) {
      case 'replay': {
        const [some = []] = portions(step.entries.slice(0, AT_ONCE), ({ text }) => text.length)
        const words = some.flatMap(({ seq, name, prev, at, text }) => [String(seq), name, prev, String(at), text])
        const done = (await server.run('replay', [epoch, ...words])) === 'yes'
        let next: Step = step
        for (let n = 0; n < some.length && next.step === 'replay'; n += 1)
          next = afterReplay(account, next.entries, done)
        return next
      }
      case 'load': {
        if (step.page === 0) this.#loading = new Loading({ server, ledger, folding, lines, account })
        assert(this.#loading !== undefined, 'a load begins with its first page')
        return this.#loading.page(step.page)
      }
      case 'open':
        return afterOpen(account, await this.#open(account, step.fitted))
    }
  }

  /** Somebody else may be at it, or about to begin. */
  async #patiently(next: Step, account: Account, { meta, pages }: ServerView): Promise<Step> {
    if (next.step !== 'fence') return next
    const { clock, timers, random } = this.#parts
    const nowMs = clock.monotonicMs()
    this.#patience = patienceWith(this.#patience, { account, meta, pages }, nowMs, fractionOf(random))
    const leftMs = this.#patience.untilMs - nowMs
    if (leftMs <= 0) return next
    await timers.sleep(Math.min(LOOK_AGAIN_MS, Math.ceil(leftMs)))
    return LOOK
  }

  async #isShipped(account: Account): Promise<boolean> {
    const meta = await this.#parts.log.meta()
    return meta !== undefined && isSameHead(meta.head, account.head)
  }

  async #mark({ epoch }: Account): Promise<boolean> {
    const said = await this.#parts.server.run('mark', [String(epoch)])
    if (said === 'alone') throw keptAlone()
    return said === 'yes'
  }

  /** Undefined where the ledger's log does not have that head, or much more after it. */
  async #missing(from: Head, { head }: Account): Promise<readonly WrittenEntry[] | undefined> {
    const found: WrittenEntry[] = []
    for (let last = from; ; ) {
      if (isSameHead(last, head)) return found
      if (last.seq >= head.seq || head.seq - last.seq > REPLAYED) return undefined
      const { entries } = await this.#parts.ledger.after(last)
      if (entries === undefined || entries.length === 0) return undefined
      found.push(...entries.filter(({ seq }) => seq <= head.seq))
      last = headOf(found.at(-1) ?? last)
    }
  }

  async #open(account: Account, fitted: Extract<Step, { step: 'open' }>['fitted']): Promise<boolean> {
    assert(this.#measured !== undefined, 'a server is measured before it is opened')
    const { epoch, head, at, copy, evicted } = opened(this.#measured, account, this.#incarnation, fitted)
    const pages = fitted.by === 'load' ? String(fitted.pages) : '-'
    const numbers = [epoch, head.seq, at, copy, evicted].map(String)
    const [inEpoch = '', seq = '', floor = '', ...rest] = numbers
    const words = [inEpoch, this.#incarnation, seq, head.name, floor, ...rest, pages]
    if ((await this.#parts.server.run('open', words)) !== 'yes') return false
    const { lines, meter } = this.#parts
    meter.add('pawl_ledger_joins_total', 1, { reason: this.#reason })
    if (fitted.by === 'load') meter.add('pawl_ledger_loads_total', 1, {})
    lines.info('Redis fits its ledger', { epoch, by: fitted.by, reason: this.#reason, entries: head.seq })
    return true
  }
}

/** What is wrong with the server; nothing, where calls were lost, or it has begun another life with all that it had. */
const reasonOf = (shipment: Shipment, lost: number): string =>
  shipment.kind === 'misfit' ? shipment.why : lost > 0 ? 'lost' : 'restarted'

const keptAlone = (): RedisStoreError =>
  new RedisStoreError(
    'STORE_FAILED',
    'pawl: this Redis has jobs that were kept without a ledger. Use another prefix for those with one; nothing was touched.',
  )
