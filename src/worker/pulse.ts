/**
 * One loop with one timer for whatever depends on time, for all jobs of a worker at once: a timer per job would cost more than
 * most jobs do.
 *
 *   idle   nothing is held: next when a look is asked for, or in an hour.
 *   alive  something is held: within a second, since the lease keeper must see the loop turn.
 *   busy   handlers begin that do not answer at once: within 100 ms, so that those which come next need not wake it.
 *
 * Each look says when the next is needed; `by` brings it forward. Invariant: there is one timer, for the earliest look asked for.
 */
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'

export interface PulseParts {
  readonly workerId: string
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** Whether anything is held. */
  readonly isAlive: () => boolean
  /** Whatever is due by now; answers when to look again. */
  readonly look: (nowMs: number) => number
}

const PAUSE_MIN_MS = 5
const BUSY_MS = 100
const ALIVE_MS = 1_000
const IDLE_MS = 3_600_000

export class Pulse {
  readonly #parts: PulseParts
  readonly #loop: Service
  /** When the next look is. */
  #atMs = 0
  /** A handler has begun since the last. */
  #begun = false

  constructor(parts: PulseParts) {
    this.#parts = parts
    const { workerId, timers, log } = parts
    this.#loop = service({
      name: `worker ${workerId}`,
      everyMs: ALIVE_MS,
      timers,
      log,
      round: async () => this.#look(),
    })
    this.#loop.start()
  }

  /** A handler has begun and did not answer at once. */
  begun(nowMs: number): void {
    this.#begun = true
    this.#within(BUSY_MS, nowMs)
  }

  /** A job is held: the next look is within a second. */
  alive(nowMs: number): void {
    this.#within(ALIVE_MS, nowMs)
  }

  /** Asks for a look by this time. */
  by(dueMs: number): void {
    if (dueMs < this.#atMs) this.#loop.wake()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  #within(ms: number, nowMs: number): void {
    if (this.#atMs <= nowMs + ms) return
    this.#atMs = nowMs
    this.#loop.wake()
  }

  #look(): number {
    const { clock, isAlive, look } = this.#parts
    const nowMs = clock.monotonicMs()
    let nextMs = Math.min(look(nowMs), nowMs + IDLE_MS)
    if (isAlive()) nextMs = Math.min(nextMs, nowMs + ALIVE_MS)
    if (this.#begun) nextMs = Math.min(nextMs, nowMs + BUSY_MS)
    this.#begun = false
    this.#atMs = nextMs
    return Math.max(PAUSE_MIN_MS, nextMs - clock.monotonicMs())
  }
}
