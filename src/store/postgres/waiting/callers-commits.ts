/**
 * Transactions of callers that something was written in of which others are to hear. Nothing is said inside them (a commit that
 * notifies holds a lock which all others that do wait for), so they are asked after, on a connection of ours, all of them
 * together. What those that were committed have left is told then; those that were rolled back are forgotten. What was not
 * asked after in time, or by a process that is gone, is found by looking.
 *
 * Modes: idle (none is open, no timer runs), waiting (the timer runs), asking (a question is under way; a transaction that comes now
 * is in the next one), closed.
 *
 * When a transaction is asked after: one whose client tells when it is over (`over.ts`), right then; between questions there are
 * `FIRST_PAUSE_MS` all the same, in which others end. Any other in pauses that grow by a quarter, to 25 ms, so that whatever it
 * took a job waits no longer than that after the commit; and where it is open for longer than 25 s, for a thousandth of that.
 * Rejected: NOTIFY in the caller's transaction; a fixed pause, which was over before the commit or long after it; pauses
 * that go on growing (0.3 s after a transaction of a second); a lock that a statement of ours waits for, which takes a connection
 * for each transaction.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Transaction } from '../../store.ts'
import { whenOver } from '../connection/over.ts'
import type { Statements } from '../connection/statements.ts'
import type { Letting } from '../flow/letting.ts'
import { nameOfSide, type QueueSide, type Run } from '../names/kinds.ts'
import type { Hints } from './hints.ts'
import { isAnywhere, type News } from './news.ts'

export interface CallersCommitsParts {
  readonly run: Run
  readonly statements: Pick<Statements, 'xactStatus'>
  readonly clock: Clock
  readonly timers: Timers
  /** Told of what transactions that were committed have left. */
  readonly hints: Pick<Hints, 'news'>
  readonly letting: Pick<Letting, 'look'>
}

const FIRST_PAUSE_MS = 5
/** Where its client tells: in case it does not. */
const WATCHED_PAUSE_MS = 100
const PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1_000
const GROWTH = 1.25
/** A job may wait for this part of the time that its transaction took. */
const SHARE = 1_000
/** Transactions asked after at a time. One more is not remembered: its jobs are found by looking. */
const MOST = 1_000

/** As `pg_xact_status` calls it. Any other answer, also null for one too long ago, counts as committed: a needless hint does no harm. */
const IN_PROGRESS = 'in progress'
const ABORTED = 'aborted'

/** What it has written so far of which others are to hear. */
class Open {
  readonly queues = new Map<string, QueueSide>()
  readonly jobs = new Map<number, QueueSide>()
  readonly places = { keys: new Set<number>(), flows: new Set<number>(), lanes: new Set<number>() }
  readonly sinceMs: number
  pauseMs = 0
  isOver = false
  /** Present where its client tells. */
  watch: Disposable | undefined

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs
  }

  add({ queues, jobs, places }: News): void {
    for (const queue of queues) this.queues.set(nameOfSide(queue), queue)
    for (const [number, of] of jobs) this.jobs.set(number, of)
    for (const sort of SORTS) for (const number of places[sort] ?? []) this.places[sort].add(number)
    // The transaction was at work just now, so it may be committed soon, however long it has been open.
    this.pauseMs = this.watch === undefined ? FIRST_PAUSE_MS : WATCHED_PAUSE_MS
  }

  get news(): News {
    return { queues: [...this.queues.values()], jobs: [...this.jobs], places: this.places }
  }

  /** It was in progress when it was asked after. */
  isStillOpen(nowMs: number): void {
    const most = this.watch === undefined ? Math.max(PAUSE_MS, (nowMs - this.sinceMs) / SHARE) : LONGEST_PAUSE_MS
    this.pauseMs = Math.min(this.pauseMs * GROWTH, most, LONGEST_PAUSE_MS)
  }
}

const SORTS = ['keys', 'flows', 'lanes'] as const

const isAny = ({ queues, jobs, places }: News): boolean => queues.length + jobs.length > 0 || isAnywhere(places)

export class CallersCommits {
  readonly #parts: CallersCommitsParts
  /** By transaction number (xid8), which is never used again. */
  readonly #open = new Map<string, Open>()
  #timer: Disposable | undefined
  /** When it goes off. */
  #dueMs = 0
  #askedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined
  #closed = false

  constructor(parts: CallersCommitsParts) {
    this.#parts = parts
  }

  /** `transaction`: undefined where nothing was written in it. */
  remember(transaction: string | undefined, tx: Transaction, news: News): void {
    if (this.#closed || transaction === undefined || !isAny(news)) return
    const known = this.#open.get(transaction)
    if (known === undefined && this.#open.size >= MOST) return
    const open = known ?? this.#begun(tx)
    open.add(news)
    this.#open.set(transaction, open)
    this.#plan()
  }

  /** Tells of transactions that have been committed by now, and forgets the others: their jobs are found by looking. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.[Symbol.dispose]()
    await this.#asking
    await this.#ask()
    for (const { watch } of this.#open.values()) watch?.[Symbol.dispose]()
    this.#open.clear()
  }

  #begun(tx: Transaction): Open {
    const open = new Open(this.#parts.clock.monotonicMs())
    open.watch = whenOver(tx, () => {
      open.isOver = true
      this.#plan()
    })
    return open
  }

  #plan(): void {
    if (this.#closed || this.#open.size === 0 || this.#asking !== undefined) return
    const nowMs = this.#parts.clock.monotonicMs()
    let pauseMs = LONGEST_PAUSE_MS
    for (const open of this.#open.values()) {
      const restMs = Math.max(0, this.#askedMs + FIRST_PAUSE_MS - nowMs)
      pauseMs = Math.min(pauseMs, open.isOver ? restMs : open.pauseMs)
    }
    if (this.#timer !== undefined && this.#dueMs <= nowMs + pauseMs) return
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#dueMs = nowMs + pauseMs
    const ask = () => {
      this.#timer = undefined
      this.#asking = this.#ask().then(() => {
        this.#asking = undefined
        this.#plan()
      })
    }
    // The shortest timer takes a millisecond and more.
    if (pauseMs > 0) this.#timer = this.#parts.timers.after(pauseMs, ask)
    else ask()
  }

  async #ask(): Promise<void> {
    if (this.#open.size === 0) return
    const { run, statements, clock } = this.#parts
    const asked = Array.from(this.#open, ([transaction, open]) => ({ transaction, open, wasOver: open.isOver }))
    this.#askedMs = clock.monotonicMs()
    const rows = await run(statements.xactStatus, [`{${asked.map(({ transaction }) => transaction)}}`]).catch(() => [])
    for (const [i, { transaction, open, wasOver }] of asked.entries()) {
      const status = rows[i]?.[0]
      if (status === IN_PROGRESS) {
        // Else it has ended since, and is asked after again.
        if (wasOver) open.isOver = false
        open.isStillOpen(clock.monotonicMs())
        continue
      }
      this.#open.delete(transaction)
      open.watch?.[Symbol.dispose]()
      // No answer: a server that took another's place may not know the transaction. A needless hint does no harm.
      if (status !== ABORTED) this.#tell(open.news)
    }
  }

  #tell(news: News): void {
    const { hints, letting } = this.#parts
    hints.news(news)
    if (isAnywhere(news.places)) void letting.look(news.places)
  }
}
