/**
 * Keeps the leases of a table alive: every round renews those that are half over, tells of those that were lost and of
 * cancels that were requested. It runs in a thread of its own where it can, so that a handler which blocks the event
 * loop keeps its lease; else on the worker's own loop.
 *
 * Modes of a lease, by its row and the use of the row (`seq`):
 *   watched   renewed half way through its window, again and again.
 *   stuck     the loop has stood still for longer than the lease's patience: not renewed, logged once. Watched again if the loop turns
 *             before the lease ends.
 *   lost      the store will never accept its fence again: told to the worker, not renewed.
 *   gone      its row is free or of another lease: forgotten.
 *
 * Invariant: the end that is written into the table is never later than the one the store has in mind: it is counted from before
 * the heartbeat was sent. A store that does not answer ends no lease here: the worker's watchdog stops handlers before their leases end.
 *
 * On a loop that has stood still for as long as an attempt may take, that attempt is over whatever it does, and if its
 * handler has not begun, it had better begin elsewhere: its lease is given up. Each by its own limit, because nobody can tell
 * from here which of them blocks the others, and one that may take an hour is owed the hour. A store cannot do that by itself: of a handler
 * that blocks the loop from its first line on it has never heard that it began.
 */
import type { CancelRequest } from '../core/job.ts'
import type { RefusalCode } from '../core/refusal.ts'
import { heartbeatInMs, leaseEnd } from '../core/timers.ts'
import type { Engine, HeartbeatAnswer, HeartbeatRequest } from '../engine/engine.ts'
import type { Log } from '../system/log.ts'
import type { LeasePlace, LeaseRow, LeaseTable } from './lease-table.ts'

export interface LeaseNews extends LeasePlace {
  /** Why the lease is lost; undefined: it is not. */
  readonly lost: string | undefined
  readonly cancel: CancelRequest | undefined
}

export interface LeaseKeeperOptions {
  readonly engine: Pick<Engine, 'heartbeat'>
  readonly table: LeaseTable
  /** The machine's monotonic clock. */
  readonly nowMs: () => number
  readonly tell: (news: readonly LeaseNews[]) => void
  /** How long leases are renewed while the worker's event loop stands still: `keep`, for their attempts; `lose`, not at all. */
  readonly onBlocked: 'keep' | 'lose'
  /** For blocked event loops, which an operator must do something about. */
  readonly log: Log
}

/** What the keeper remembers about a row. */
interface Watch {
  seq: number
  readonly sinceMs: number
  beatAtMs: number
  beats: number
  cancelHeard: boolean
  /** Stuck: not renewed any more, unless the loop turns again in time. */
  givenUp: boolean
}

interface Due extends LeasePlace {
  readonly lease: LeaseRow
  readonly watch: Watch
}

const BATCH = 500
/** Pause between rounds while there is no lease to keep; `wake` ends it. */
const IDLE_MS = 3_600_000
/** Time between two looks that counts as standing still, at most: a process that was suspended has not seen its loop stand still. */
const LOOK_MAX_MS = 2_000
/** Jobs that a line of the log names. */
const NAMED = 20

/** Refusals that say: this fence will never be accepted again. */
const LOST: ReadonlySet<RefusalCode> = new Set([
  'STALE_FENCE',
  'LEASE_EXPIRED',
  'ENDED',
  'NOT_FOUND',
  'ILLEGAL_TRANSITION',
])

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #watches: Watch[] = []
  #pulses = -1
  /** For how long the worker's event loop has been seen to stand still, as of the last look. */
  #stillMs = 0
  #lookedMs = Number.POSITIVE_INFINITY
  /** The last round found a lease to keep. */
  #watching = false

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /** One round. Returns after how many milliseconds the next is due. */
  async runOnce(): Promise<number> {
    const { table, nowMs } = this.#options
    const now = nowMs()
    const due = this.#due(now)
    for (let i = 0; i < due.length; i += BATCH) await this.#beat(due.slice(i, i + BATCH))
    return this.#watching ? table.scanEveryMs : IDLE_MS
  }

  #due(now: number): Due[] {
    const { table } = this.#options
    const due: Due[] = []
    const givenUp: LeaseRow[] = []
    this.#look(now)
    const rows = table.highWater
    this.#watching = false
    for (let row = 0; row < rows; row += 1) {
      const seq = table.seqOf(row)
      if (seq <= 0) continue
      this.#watching = true
      const known = this.#watches[row]
      if (known !== undefined && known.seq === seq && known.beatAtMs > now) continue
      const lease = table.read(row, seq)
      if (lease === undefined || lease.beatEveryMs === 0) continue
      const watch = known !== undefined && known.seq === seq ? known : this.#watch(row, seq, lease, now)
      if (watch.beatAtMs > now) continue
      if (!this.#isStuck(lease, watch, now)) due.push({ row, seq, lease, watch })
      else if (!watch.givenUp) {
        watch.givenUp = true
        givenUp.push(lease)
      }
    }
    if (givenUp.length > 0) this.#tellGivenUp(givenUp)
    return due
  }

  #watch(row: number, seq: number, lease: LeaseRow, now: number): Watch {
    const leftMs = (lease.expiresMs - (now | 0)) | 0
    const beatAtMs = now + heartbeatInMs({ heartbeatMs: lease.beatEveryMs }, leftMs)
    const watch = { seq, sinceMs: now, beatAtMs, beats: 0, cancelHeard: false, givenUp: false }
    this.#watches[row] = watch
    return watch
  }

  /** Whether the worker's event loop has turned since the last look. */
  #look(now: number): void {
    const { pulses } = this.#options.table
    this.#stillMs =
      pulses === this.#pulses ? this.#stillMs + Math.min(Math.max(0, now - this.#lookedMs), LOOK_MAX_MS) : 0
    this.#pulses = pulses
    this.#lookedMs = now
  }

  /** While there was nothing to do the loop had no reason to say that it turns: it counts from when there was. */
  #isStuck({ windowMs, limitMs }: LeaseRow, { sinceMs }: Watch, now: number): boolean {
    const patienceMs = this.#options.onBlocked === 'lose' ? windowMs / 2 : limitMs
    return Math.min(this.#stillMs, now - sinceMs) > patienceMs
  }

  #tellGivenUp(leases: readonly LeaseRow[]): void {
    const ids = leases.slice(0, NAMED).map(({ id }) => id)
    this.#options.log.error('the event loop stands still: leases are not renewed any more', {
      still_ms: Math.round(this.#stillMs),
      jobs: leases.length,
      job_ids: ids.join(' '),
      reason: "a handler on it does not let go; end the process, and give its type `isolate: 'process'`",
    })
  }

  async #beat(due: readonly Due[]): Promise<void> {
    const { engine, nowMs } = this.#options
    // Counted from before the call: never later than the end the store has in mind.
    const sentMs = nowMs()
    const beats: HeartbeatRequest[] = due.map(({ lease, watch }) => ({
      id: lease.id,
      fence: lease.fence,
      requestId: `${lease.fence}/beat/${watch.beats + 1}`,
      windowMs: lease.windowMs,
    }))
    let answers: readonly HeartbeatAnswer[]
    try {
      answers = await engine.heartbeat(beats)
    } catch {
      // The store is away. The next round tries again; the watchdog stops the handlers before it is too late.
      return
    }
    const news: LeaseNews[] = []
    for (const [i, each] of due.entries()) {
      const heard = this.#hear(each, answers[i], sentMs)
      if (heard !== undefined) news.push(heard)
    }
    if (news.length > 0) this.#options.tell(news)
  }

  #hear({ row, seq, lease, watch }: Due, answer: HeartbeatAnswer | undefined, sentMs: number): LeaseNews | undefined {
    if (answer === undefined) return undefined
    if (!answer.ok) {
      if (!LOST.has(answer.refusal.code)) return undefined
      watch.beatAtMs = Number.POSITIVE_INFINITY
      return { row, seq, lost: answer.refusal.message, cancel: undefined }
    }
    watch.beats += 1
    watch.givenUp = false
    watch.beatAtMs = sentMs + heartbeatInMs({ heartbeatMs: lease.beatEveryMs }, lease.windowMs)
    this.#options.table.renew({ row, seq }, leaseEnd(sentMs, lease.windowMs))
    if (answer.cancel === undefined || watch.cancelHeard) return undefined
    watch.cancelHeard = true
    return { row, seq, lost: undefined, cancel: answer.cancel }
  }
}
