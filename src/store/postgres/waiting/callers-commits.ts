/**
 * Transactions of callers that jobs were enqueued in. Nothing is said inside them (a commit that notifies holds a lock which
 * all others that do wait for), and nobody tells when they are committed; so they are asked after, on a connection of
 * ours, all of them together and in growing pauses. Of those that were committed listeners are told; those that were
 * rolled back are forgotten. What was not asked after in time, or by a process that is gone, is found by looking.
 *
 * Modes: idle (none is open, no timer runs), waiting (the timer runs), asking (a question is under way; a transaction that comes now
 * is in the next one), closed. A pause is a quarter more than the one before, so that a job waits after the commit for about a
 * quarter, at most, of the time its transaction took. Rejected: NOTIFY in the caller's transaction; a fixed pause, which was
 * over before the commit or long after it.
 */
import type { Timers } from '../../../system/timers.ts'
import type { Statements } from '../connection/statements.ts'
import type { QueueSide, Run } from '../names/kinds.ts'

export interface CallersCommitsParts {
  readonly run: Run
  readonly statements: Pick<Statements, 'xactStatus'>
  readonly timers: Timers
  /** Called with the queues of jobs whose transactions were committed. */
  readonly tell: (queues: Iterable<QueueSide>) => void
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 1_000
const GROWTH = 1.25
/** Transactions asked after at a time. One more is not remembered: its jobs are found by looking. */
const MOST = 1_000

/** As `pg_xact_status` calls it. Any other answer, also null for one too long ago, counts as committed: a needless hint does no harm. */
const IN_PROGRESS = 'in progress'
const ABORTED = 'aborted'

interface Open {
  readonly queues: Set<QueueSide>
  pauseMs: number
}

export class CallersCommits {
  readonly #parts: CallersCommitsParts
  /** By transaction number (xid8), which is never used again. */
  readonly #open = new Map<string, Open>()
  #timer: Disposable | undefined
  /** The pause that the timer was set for. */
  #pauseMs = 0
  #asking: Promise<void> | undefined
  #closed = false

  constructor(parts: CallersCommitsParts) {
    this.#parts = parts
  }

  remember(transaction: string, queues: Iterable<QueueSide>): void {
    const known = this.#open.get(transaction)
    if (this.#closed || (known === undefined && this.#open.size >= MOST)) return
    const open = known ?? { queues: new Set(), pauseMs: FIRST_PAUSE_MS }
    for (const queue of queues) open.queues.add(queue)
    if (open.queues.size === 0) return
    // The transaction was at work just now, so it may be committed soon, however long it has been open.
    open.pauseMs = FIRST_PAUSE_MS
    this.#open.set(transaction, open)
    this.#plan()
  }

  /** Tells of transactions that have been committed by now, and forgets the others: their jobs are found by looking. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.[Symbol.dispose]()
    await this.#asking
    await this.#ask()
    this.#open.clear()
  }

  #plan(): void {
    if (this.#closed || this.#open.size === 0 || this.#asking !== undefined) return
    let pauseMs = LONGEST_PAUSE_MS
    for (const open of this.#open.values()) pauseMs = Math.min(pauseMs, open.pauseMs)
    if (this.#timer !== undefined && this.#pauseMs <= pauseMs) return
    this.#timer?.[Symbol.dispose]()
    this.#pauseMs = pauseMs
    this.#timer = this.#parts.timers.after(pauseMs, () => {
      this.#timer = undefined
      this.#asking = this.#ask().then(() => {
        this.#asking = undefined
        this.#plan()
      })
    })
  }

  async #ask(): Promise<void> {
    if (this.#open.size === 0) return
    const { run, statements, tell } = this.#parts
    const asked = [...this.#open]
    const rows = await run(statements.xactStatus, [`{${asked.map(([transaction]) => transaction)}}`]).catch(() => [])
    const committed = new Set<QueueSide>()
    for (const [i, [transaction, open]] of asked.entries()) {
      const status = rows[i]?.[0]
      if (status === IN_PROGRESS) {
        open.pauseMs = Math.min(open.pauseMs * GROWTH, LONGEST_PAUSE_MS)
        continue
      }
      this.#open.delete(transaction)
      // No answer: a server that took another's place may not know the transaction. A needless hint does no harm.
      if (status !== ABORTED) for (const queue of open.queues) committed.add(queue)
    }
    if (committed.size > 0) tell(committed)
  }
}
