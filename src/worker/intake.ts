/**
 * When a worker asks for work, and for how much.
 *
 *   flowing   the last claim got all it asked for: the next is on its way before that is answered, for all there is room for.
 *   trickling the last got a few, or none, and a handler is free: one claim, for as many jobs as could begin at once,
 *             which waits until there is something; when it is answered, the next one waits.
 *   busy      the last got many, or no handler is free: what there is room for is asked for when a hint or the clock says
 *             so, and not waited for, so that a job that comes alone is left to a worker that could begin it.
 *   resting   a claim failed, or was not let wait: as busy.
 *   paused, closed  no claim is made. One that waits is called off; what it was given is released or brought in.
 *
 * Invariant: of the claims under way one at most waits. It leaves flowing by a claim that got less than it asked for.
 */
import type { Clock } from '../system/clock.ts'
import { Complaint } from '../system/complaint.ts'
import { Few } from '../system/few.ts'
import type { Log } from '../system/log.ts'
import { turn } from '../system/turn.ts'
import { CLAIM_MAX, type Claiming, type Portion, type Wait } from './claiming.ts'

export interface IntakeParts {
  readonly claiming: Claiming
  readonly clock: Clock
  readonly machineMs: () => number
  readonly log: Log
  readonly workerId: string
  readonly pollMaxMs: number
  /** Handlers that could begin at once, jobs held for later ones, how many of those there may be, places for more, and outcomes waiting to be written. */
  readonly vacancies: () => number
  readonly held: () => number
  readonly heldMost: () => number
  readonly places: () => number
  readonly backlog: () => number
  /** How many jobs may be asked for at a time, whatever there is room for. */
  readonly most: () => number
  /** Takes in the jobs that a claim sent at `sentMs` was given. */
  readonly hold: (portions: readonly Portion[], sentMs: number) => void
  /** Called once all jobs of an answer are held: handlers may begin. */
  readonly fill: () => void
}

/** Outcomes waiting to be written, above which no new work is taken on. With 2,000 twice as much outlived a scavenge. */
export const BACKLOG_MAX = 500
const POLL_SOON_MS = 50
/** Longest time during which nothing but jobs is served. */
const TURN_EVERY_MS = 10
/** How long a claim waits, unless the worker's own poll is longer. */
const WAIT_MS = 30_000
/** After an answer with more jobs than this the next claim does not wait: they are to be done first. */
const FEW = 8

export class Intake {
  readonly #parts: IntakeParts
  /** Claims under way, and how many jobs they ask for. */
  readonly #claims = new Few<Promise<void>>()
  #asked = 0
  /** A hint or a full answer says that there may be work that was not asked for. */
  #hopeful = true
  /** The last claim got all it asked for: there is more than one claim can bring. */
  #flowing = false
  /** How many jobs the last answer brought; infinite before the first. */
  #came = Number.POSITIVE_INFINITY
  /** A claim failed, or was not let wait: the next is made when a hint or the clock says so. */
  #resting = false
  /** Present while a claim waits: calls it off. */
  #waiting: AbortController | undefined
  readonly #complaint = new Complaint()
  #pollAtMs = 0
  #pollMs = POLL_SOON_MS
  #turnedMs = 0
  #mode: 'open' | 'paused' | 'closed' = 'open'

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** There may be work that the waiting claim would not hear of (other queues, a pause that ended): it is called off, and the next one looks. */
  wake(): void {
    this.#waiting?.abort()
    this.hinted()
  }

  /** There may be work in a queue. A claim that waits hears of it by itself. */
  hinted(): void {
    this.#hopeful = true
    this.#resting = false
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
      // While there is no room the clock need not look: the execution that makes room will.
      this.#pollAtMs = nowMs + (this.#wanted() > 0 ? this.#pollMs : this.#parts.pollMaxMs)
      this.hinted()
    }
    return this.#pollAtMs
  }

  /** No more from now on; what is under way, and what was given to claims that are still open, is brought in. */
  async close(): Promise<void> {
    this.#mode = 'closed'
    await this.#bringIn()
  }

  /** As `close`, until it is resumed. */
  async pause(): Promise<void> {
    if (this.#mode === 'open') this.#mode = 'paused'
    await this.#bringIn()
  }

  resume(): void {
    if (this.#mode !== 'paused') return
    this.#mode = 'open'
    this.hinted()
  }

  async #bringIn(): Promise<void> {
    this.#waiting?.abort()
    await Promise.all(this.#claims)
    const { claiming, machineMs, hold } = this.#parts
    const sentMs = machineMs()
    // If the store does not answer, jobs that were claimed and never seen come back when their leases end.
    hold(await claiming.recover().catch(() => []), sentMs)
  }

  get #mayClaim(): boolean {
    if (this.#mode !== 'open' || this.#resting) return false
    if (!this.#hopeful && !this.#flowing && !this.#isToWait) return false
    return this.#claims.size < (this.#flowing ? 2 : 1)
  }

  /**
   * How many jobs to ask for; 0 while more than half is held of what may be. That is what will be started soon, so the half is
   * gone soon after: a job that is more urgent than all that is held, or in another queue, is heard of by then.
   */
  #wanted(): number {
    const { vacancies, places, backlog } = this.#parts
    const most = this.#parts.heldMost()
    const held = this.#parts.held()
    if (held + this.#asked > most / 2 || backlog() > BACKLOG_MAX) return 0
    const room = Math.min(vacancies() + most - held, places()) - this.#asked
    return Math.min(CLAIM_MAX, room, this.#parts.most())
  }

  async #claim(): Promise<void> {
    const { clock, log, machineMs, workerId } = this.#parts
    if (this.#flowing && clock.monotonicMs() - this.#turnedMs > TURN_EVERY_MS) {
      await turn()
      this.#turnedMs = clock.monotonicMs()
    }
    const wanted = this.#wanted()
    if (wanted <= 0 || this.#mode !== 'open') return
    const waits = this.#isToWait
    const limit = waits ? Math.min(wanted, this.#parts.vacancies()) : wanted
    // A job that has a slot and does not begin keeps others from it: these are not held in stock.
    const limited = Math.max(0, Math.min(limit, this.#parts.vacancies() - this.#parts.held() - this.#asked))
    this.#hopeful = false
    this.#asked += limit
    const sentMs = machineMs()
    const sentAtMs = clock.monotonicMs()
    try {
      const portions = await (waits ? this.#wait(limit, limited) : this.#parts.claiming.claim(limit, limited))
      const came = portions.reduce((sum, { assignments }) => sum + assignments.length, 0)
      this.#asked -= limit
      this.#resting = waits && came === 0 && clock.monotonicMs() - sentAtMs < this.#waitMs && !this.#hopeful
      this.#received(came, limit)
      this.#parts.hold(portions, sentMs)
      if (waits && came === limit && limit < wanted) this.#expectMore()
      this.#complaint.over()
    } catch (error) {
      this.#asked -= limit
      this.#flowing = false
      this.#resting = true
      this.#complaint.about(error, (reason) => log.warn('claim failed', { worker_id: workerId, reason }))
    }
  }

  /** Whether work comes one by one, and a handler is free to do it. */
  get #isToWait(): boolean {
    return !this.#flowing && this.#waiting === undefined && this.#came <= FEW && this.#parts.vacancies() > 0
  }

  async #wait(limit: number, limited: number): Promise<readonly Portion[]> {
    const { claiming, pollMaxMs } = this.#parts
    const waiting = new AbortController()
    this.#waiting = waiting
    const wait: Wait = { waitMs: this.#waitMs, pollMs: pollMaxMs, signal: waiting.signal }
    try {
      return await claiming.claim(limit, limited, wait)
    } finally {
      this.#waiting = undefined
    }
  }

  get #waitMs(): number {
    return Math.max(WAIT_MS, this.#parts.pollMaxMs)
  }

  #received(came: number, limit: number): void {
    this.#came = came
    this.#flowing = came === limit && limit < this.#parts.most()
    this.#pollMs = came > 0 ? POLL_SOON_MS : this.#nextPollMs
    this.#pollAtMs = this.#parts.clock.monotonicMs() + this.#pollMs
  }

  /** A claim that waited asked for what could begin at once: where it got all of that, the next asks for all there is room for. */
  #expectMore(): void {
    this.#flowing = false
    this.#came = Number.POSITIVE_INFINITY
    this.#hopeful = true
  }

  /** The pause before the next look where nothing was found; twice as long each time, up to a bound. */
  get #nextPollMs(): number {
    return Math.min(this.#pollMs * 2, this.#parts.pollMaxMs)
  }
}
