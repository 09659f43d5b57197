/**
 * Keeps the leases of a table alive: every round renews those that are half over, tells of those that were lost and of
 * cancels that were requested. It runs in a thread of its own where it can, so that a handler which blocks the event
 * loop keeps its lease; else on the worker's own loop.
 */
import type { CancelRequest } from '../core/job.ts'
import type { RefusalCode } from '../core/refusal.ts'
import { heartbeatInMs } from '../core/timers.ts'
import type { Engine, HeartbeatAnswer, HeartbeatRequest } from '../engine/engine.ts'
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
  /** `lose`: leases of a worker whose event loop does not turn are not renewed. */
  readonly onBlocked: 'keep' | 'lose'
}

/** What the keeper remembers about a row. */
interface Watch {
  seq: number
  beatAtMs: number
  beats: number
  cancelTold: boolean
}

interface Due extends LeasePlace {
  readonly lease: LeaseRow
  readonly watch: Watch
}

const BATCH = 500
/** With no lease to keep: until woken. */
const IDLE_MS = 3_600_000

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
  #pulseSeenMs = 0
  /** There was a lease to keep in the last round. */
  #watching = false

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /** One round; answers after how many milliseconds the next is due. */
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
    const blocked = this.#blockedMs(now)
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
      if (known === undefined || known.seq !== seq) {
        const leftMs = (lease.expiresMs - (now | 0)) | 0
        const beatAtMs = now + heartbeatInMs({ heartbeatMs: lease.beatEveryMs }, leftMs)
        this.#watches[row] = { seq, beatAtMs, beats: 0, cancelTold: false }
        if (beatAtMs > now) continue
      }
      if (blocked > lease.windowMs / 2) continue
      due.push({ row, seq, lease, watch: this.#watches[row] as Watch })
    }
    return due
  }

  /** For how long the worker's event loop has not turned; 0 where that does not matter. */
  #blockedMs(now: number): number {
    if (this.#options.onBlocked === 'keep') return 0
    const { pulses } = this.#options.table
    if (pulses !== this.#pulses) {
      this.#pulses = pulses
      this.#pulseSeenMs = now
    }
    return now - this.#pulseSeenMs
  }

  async #beat(due: readonly Due[]): Promise<void> {
    const { engine, nowMs } = this.#options
    // Counted from before the call: never later than the end the store has in mind.
    const sentMs = nowMs()
    const beats: HeartbeatRequest[] = due.map(({ lease, watch }) => ({
      id: lease.id,
      fence: lease.fence,
      requestId: `${lease.fence}/beat/${watch.beats + 1}`,
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
      const told = this.#hear(each, answers[i], sentMs)
      if (told !== undefined) news.push(told)
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
    watch.beatAtMs = sentMs + heartbeatInMs({ heartbeatMs: lease.beatEveryMs }, lease.windowMs)
    this.#options.table.renew({ row, seq }, sentMs + lease.windowMs)
    if (answer.cancel === undefined || watch.cancelTold) return undefined
    watch.cancelTold = true
    return { row, seq, lost: undefined, cancel: answer.cancel }
  }
}
