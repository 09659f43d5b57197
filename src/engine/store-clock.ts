import type { Time } from '../core/job.ts'
import type { Step } from '../core/steps.ts'
import type { Clock } from '../system/clock.ts'

/** Less than this is how answers differ; leases have more to spare. */
const TOLERANCE_MS = 250
/** How fast a store's clock may lose and gain on ours without having been set. One that was set back gives way slowly. */
const LOSES = 1 / 16
const GAINS = 1 / 1_000

/**
 * The store's clock as this process knows it: the `now` of the last answer plus the monotonic time since. The answer
 * had aged on its way here, so the estimate is never ahead of the store; whatever must not have passed is checked by
 * the store itself.
 *
 * It also notices when that clock is set. Each answer was made between the call and its return: so much ahead of our
 * monotonic clock the store was at least, so much at most, and no slow answer looks like a step. An answer that does not fit
 * what is known by then can only mean that the clock was set.
 */
export class StoreClock {
  readonly #clock: Clock
  readonly #stepped: (step: Step) => void
  /** Store time minus monotonic time, when the last answer came. */
  #offset: number
  /** By how much the store's clock is ahead of our monotonic one, at least and at most, as of `#heardMs`. */
  #leastMs = Number.NEGATIVE_INFINITY
  #mostMs = Number.POSITIVE_INFINITY
  #heardMs: number
  /** When the first answer came. */
  #metMs: number | undefined

  /** `stepped` is told of steps forward. A clock that is set back goes on: that is the store's promise (S13). */
  constructor(clock: Clock, stepped: (step: Step) => void = () => {}) {
    this.#clock = clock
    this.#stepped = stepped
    this.#heardMs = clock.monotonicMs()
    this.#offset = clock.now() - this.#heardMs
  }

  /** Our clock when a call is made; to be handed to `heard` with its answer. */
  asked(): number {
    return this.#clock.monotonicMs()
  }

  heard(now: Time, askedMs: number): void {
    const heardMs = this.#clock.monotonicMs()
    const sinceMs = heardMs - this.#heardMs
    const least = this.#leastMs - sinceMs * LOSES
    const most = this.#mostMs + sinceMs * GAINS
    this.#heardMs = heardMs
    this.#metMs ??= heardMs
    this.#offset = now - heardMs
    // Where they differ, by however little, the answer is right: a clock that was set back and is put right gains what it
    // had lost, which is no news, but what is known must not stay behind it.
    const agrees = now - heardMs <= most && now - askedMs >= least
    this.#leastMs = agrees ? Math.max(least, now - heardMs) : now - heardMs
    this.#mostMs = agrees ? Math.min(most, now - askedMs) : now - askedMs
    if (now - heardMs <= most + TOLERANCE_MS) return
    // Generous: too little could cost a lease, and too early by a millisecond costs one that was renewed just before, perhaps
    // through a process whose answers are ahead of ours by as much as nobody notices.
    this.#stepped({ at: Math.ceil(most + heardMs + TOLERANCE_MS), byMs: Math.ceil(now - askedMs - least) })
  }

  /** For how long the store's clock has been watched from here. */
  get watchedMs(): number {
    return this.#metMs === undefined ? 0 : this.#clock.monotonicMs() - this.#metMs
  }

  now(): Time {
    return Math.floor(this.#offset + this.#clock.monotonicMs())
  }
}
