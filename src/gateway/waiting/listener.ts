/**
 * A client that hears hints over HTTP. Names it has not been sent yet are kept, each once: a slow client is sent frames
 * less often, not longer ones.
 *
 * A hint that may be about anything is told now and then only: it may be of others' doing, of which it tells no more than
 * that; and a client that hears it looks at everything it has, which busy neighbours must not make it do all the time.
 */
import type { JobId } from '../../core/job.ts'
import type { Hint } from '../../store/store.ts'
import type { Clock } from '../../system/clock.ts'
import type { Timers } from '../../system/timers.ts'
import type { HintFrame } from '../contract/hints.ts'
import { Bell } from './bell.ts'
import type { Source } from './sse.ts'

/** The tenant and queues whose hints it may hear. */
export interface Ear {
  readonly tenant: string
  /** Names of queues; undefined: all of the tenant's. */
  readonly queues: readonly string[] | undefined
}

export interface ListenerParts {
  readonly ear: Ear
  readonly timers: Timers
  readonly clock: Clock
  readonly leave: () => void
}

/** The pause after a frame: hints that come in it are sent together. */
const REST_MS = 10
const ANYTHING_EVERY_MS = 1_000
/** Names that are kept; more than that may be about anything. */
const NAMES_MAX = 10_000

export class Listener implements Source {
  readonly #parts: ListenerParts
  readonly #bell: Bell
  readonly #work = new Set<string>()
  readonly #jobs = new Map<string, Set<JobId>>()
  /** How many names `#work` and `#jobs` have. */
  #names = 0
  #anything = false
  #sentAt = Number.NEGATIVE_INFINITY
  #sentAnythingAt = Number.NEGATIVE_INFINITY

  constructor(parts: ListenerParts) {
    this.#parts = parts
    this.#bell = new Bell(parts.timers)
  }

  hinted(hint: Hint): void {
    const { tenant, queues } = this.#parts.ear
    if (hint.about === 'anything') this.#anything = true
    else if (hint.tenant !== tenant || queues?.includes(hint.queue) === false) return
    else this.#note(hint)
    this.#bell.ring()
  }

  async frames(): Promise<string | undefined> {
    const { clock, timers } = this.#parts
    if (!this.#hasNews) return undefined
    const restMs = this.#sentAt + REST_MS - clock.monotonicMs()
    if (restMs > 0) await timers.sleep(restMs)
    this.#sentAt = clock.monotonicMs()
    return `data: ${JSON.stringify(this.#frame())}\n\n`
  }

  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#hasNews) return
    const dueMs = this.#anything ? this.#sentAnythingAt + ANYTHING_EVERY_MS - this.#parts.clock.monotonicMs() : ms
    await this.#bell.next(Math.min(ms, Math.max(0, dueMs)), signal)
  }

  [Symbol.dispose](): void {
    this.#parts.leave()
  }

  get #hasNews(): boolean {
    return this.#names > 0 || this.#isAnythingDue
  }

  get #isAnythingDue(): boolean {
    return this.#anything && this.#parts.clock.monotonicMs() - this.#sentAnythingAt >= ANYTHING_EVERY_MS
  }

  #note(hint: Exclude<Hint, { about: 'anything' }>): void {
    if (hint.about === 'queue') {
      if (this.#work.has(hint.queue)) return
      this.#work.add(hint.queue)
    } else {
      const jobs = this.#jobs.get(hint.queue) ?? new Set()
      if (jobs.has(hint.id)) return
      this.#jobs.set(hint.queue, jobs.add(hint.id))
    }
    this.#names += 1
    if (this.#names <= NAMES_MAX) return
    this.#anything = true
    this.#forget()
  }

  #frame(): HintFrame {
    const { tenant } = this.#parts.ear
    const anything = this.#isAnythingDue
    if (anything) {
      this.#anything = false
      this.#sentAnythingAt = this.#sentAt
    }
    const jobs = Object.fromEntries(Array.from(this.#jobs, ([queue, ids]) => [queue, [...ids]]))
    const frame = { tenant, work: [...this.#work], jobs, anything }
    this.#forget()
    return frame
  }

  #forget(): void {
    this.#work.clear()
    this.#jobs.clear()
    this.#names = 0
  }
}
