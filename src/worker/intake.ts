/**
 * When a worker asks for work, and for how much.
 *
 * Where work flows, the next claim is on its way before the last is answered. Where it comes one by one, the claim that
 * found nothing stands in the store, if the store can do that, and whoever is given a few asks again at once so as to
 * stand again. In between hints wake it, and polling is the truth.
 */
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Clock } from '../system/clock.ts'
import { Complaint } from '../system/complaint.ts'
import { Few } from '../system/few.ts'
import type { Log } from '../system/log.ts'
import { turn } from '../system/turn.ts'
import { CLAIM_MAX, type Claiming } from './claiming.ts'

export interface IntakeParts {
  readonly engine: Pick<Engine, 'claimsStand'>
  readonly claiming: Claiming
  readonly clock: Clock
  readonly machineMs: () => number
  readonly log: Log
  readonly workerId: string
  readonly pollMaxMs: number
  /** Handlers that could begin at once, jobs held for later ones, places for more, and outcomes waiting to be written. */
  readonly vacancies: () => number
  readonly prefetched: () => number
  readonly places: () => number
  readonly backlog: () => number
  /** What may be asked for at a time, whatever there is room for. */
  readonly most: () => number
  /** What was asked for then. */
  readonly hold: (assignments: readonly Assignment[], sentMs: number) => void
  /** All of it is held. */
  readonly fill: () => void
}

/** Outcomes waiting to be written, above which no new work is taken on. With 2,000 twice as much outlived a scavenge. */
export const BACKLOG_MAX = 500
const POLL_SOON_MS = 50
/** Longest time during which nothing but jobs is served. */
const TURN_EVERY_MS = 10
/** A claim stands until the worker would look by itself, and a little longer; but not where that may be long. */
const STAND_MAX_MS = 1_000
const STAND_SLACK_MS = 250
/** Who is given more has them to do first. */
const FEW = 8

export class Intake {
  readonly #parts: IntakeParts
  /** Claims under way, and how many jobs they ask for. */
  readonly #claims = new Few<Promise<void>>()
  #asked = 0
  /** There may be work that has not been asked for. */
  #hopeful = true
  /** The last claim got all it asked for: there is more than one claim can bring. */
  #flowing = false
  readonly #complaint = new Complaint()
  #pollAtMs = 0
  #pollMs = POLL_SOON_MS
  #turnedMs = 0
  #mode: 'open' | 'paused' | 'closed' = 'open'

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** There may be work. */
  wake(): void {
    this.#hopeful = true
    this.look()
  }

  /**
   * There may be room. Two claims at a time where work flows: store and worker would wait for each other in turn
   * otherwise (80,000 jobs/s against 97,000). One where other processes claim as well made no difference that could be
   * told from noise (89,500 and 88,700 jobs/s with two processes).
   */
  look(): void {
    while (this.#mayClaim && this.#wanted() > 0) {
      const claim = this.#claim().then(() => {
        this.#claims.delete(claim)
        this.#parts.fill()
      })
      this.#claims.add(claim)
    }
  }

  /** Looks by itself if it is time. Answers when it is next. */
  poll(nowMs: number): number {
    if (nowMs >= this.#pollAtMs) {
      // Where there is no room, whoever makes some will look.
      this.#pollAtMs = nowMs + (this.#wanted() > 0 ? this.#pollMs : this.#parts.pollMaxMs)
      this.wake()
    }
    return this.#pollAtMs
  }

  /** No more from now on; what is under way, and what was given to claims that are still open, is brought in. */
  async close(): Promise<void> {
    this.#mode = 'closed'
    await this.#bringIn()
  }

  /** The same until it is resumed. */
  async pause(): Promise<void> {
    if (this.#mode === 'open') this.#mode = 'paused'
    await this.#bringIn()
  }

  resume(): void {
    if (this.#mode !== 'paused') return
    this.#mode = 'open'
    this.wake()
  }

  async #bringIn(): Promise<void> {
    await Promise.all(this.#claims)
    const { claiming, machineMs, hold } = this.#parts
    while (claiming.isOpen) {
      const sentMs = machineMs()
      const assignments = await claiming.claim(0).catch(() => undefined)
      // Where the store does not answer, leases end by themselves.
      if (assignments === undefined) return
      hold(assignments, sentMs)
    }
  }

  get #mayClaim(): boolean {
    if (this.#mode !== 'open' || !(this.#hopeful || this.#flowing)) return false
    return this.#claims.size < (this.#flowing ? 2 : 1)
  }

  /** How many jobs to ask for; 0 while enough is held to keep all handlers busy. */
  #wanted(): number {
    const { claiming, vacancies, places, backlog } = this.#parts
    const { prefetch } = claiming
    const held = this.#parts.prefetched()
    if (held + this.#asked > prefetch / 2 || backlog() > BACKLOG_MAX) return 0
    const room = Math.min(vacancies() + prefetch - held, places()) - this.#asked
    return Math.min(CLAIM_MAX, room, this.#parts.most())
  }

  async #claim(): Promise<void> {
    const { clock, log, machineMs, workerId } = this.#parts
    if (this.#flowing && clock.monotonicMs() - this.#turnedMs > TURN_EVERY_MS) {
      await turn()
      this.#turnedMs = clock.monotonicMs()
    }
    const limit = this.#wanted()
    if (limit <= 0 || this.#mode !== 'open') return
    this.#hopeful = false
    try {
      const sentMs = machineMs()
      this.#received(await this.#ask(limit), limit, sentMs)
      this.#complaint.over()
    } catch (error) {
      this.#flowing = false
      this.#complaint.about(error, (reason) => log.warn('claim failed', { worker_id: workerId, reason }))
    }
  }

  async #ask(limit: number): Promise<readonly Assignment[]> {
    this.#asked += limit
    try {
      return await this.#parts.claiming.claim(limit, this.#stand)
    } finally {
      this.#asked -= limit
    }
  }

  #received(assignments: readonly Assignment[], limit: number, sentMs: number): void {
    const { length } = assignments
    this.#flowing = length === limit && limit < this.#parts.most()
    if (this.#parts.engine.claimsStand && length > 0 && length <= FEW) this.#hopeful = true
    this.#pollMs = length > 0 ? POLL_SOON_MS : this.#nextPollMs
    this.#pollAtMs = this.#parts.clock.monotonicMs() + this.#pollMs
    this.#parts.hold(assignments, sentMs)
  }

  /** For what could begin at once. Who has nobody free to do it leaves it to others, whatever could be held. */
  get #stand(): { readonly ms: number; readonly limit: number } | undefined {
    const limit = Math.min(this.#parts.vacancies(), this.#parts.most())
    return limit > 0 ? { limit, ms: Math.min(this.#nextPollMs, STAND_MAX_MS) + STAND_SLACK_MS } : undefined
  }

  /** Where nothing is found. */
  get #nextPollMs(): number {
    return Math.min(this.#pollMs * 2, this.#parts.pollMaxMs)
  }
}
