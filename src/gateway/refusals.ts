/**
 * Refusals, paced. Under siege most of a gateway's time goes to those who are turned away and are back at once: each of
 * them is heard, read and answered. So a token is told of so many refusals a second, and some at once; what is more is
 * told later, and meanwhile that connection asks nothing else. A client that is refused now and then never notices; a flood from any
 * number of connections becomes as slow as they are many. Answers to what was done, refusals by the state of a job,
 * and that the store is away are not held.
 *
 * Modes of a token: clear (its refusals of the last two seconds are within the cap: the next is told at once) and behind (each refusal
 * waits until, at the pace of the cap, it is its turn, five seconds at most). It is clear again once it was refused less for a while.
 * Invariant: a refusal is told in any case; it is only ever told later. A wait ends early when the request is aborted or the gateway ends.
 */
import type { Clock } from '../system/clock.ts'
import type { Timers } from '../system/timers.ts'
import type { Caps } from './caps.ts'
import { Objected, type Problem } from './problem.ts'

/** Refusals that are told at once, in seconds' worth of them. */
const AT_ONCE_S = 2
/** The longest that a refusal waits: clients give up on an answer after some ten seconds. */
const LONGEST_MS = 5_000
const MOST_TOKENS = 10_000
/** Refusals of how a request was made: it is malformed, or too much, which `cap` says. Only these are paced. */
const ILL_MADE: ReadonlySet<number> = new Set([400, 413, 415])
const isHeld = ({ status, body }: Problem): boolean => ILL_MADE.has(status) || body['cap'] !== undefined

export interface RefusalsParts {
  readonly caps: Caps
  readonly clock: Clock
  readonly timers: Timers
  /** Aborted when the gateway ends: refusals that wait are told at once. */
  readonly ending: AbortSignal
}

export class Refusals {
  readonly #parts: RefusalsParts
  /** When, at this pace, a token has been told of all its refusals. The one refused longest ago goes first. */
  readonly #clearAt = new Map<string, number>()

  constructor(parts: RefusalsParts) {
    this.#parts = parts
  }

  /** Resolves when this token may be told of another refusal, or when its request is aborted. */
  async hold(token: string, error: unknown, request: Request): Promise<void> {
    if (!(error instanceof Objected) || !isHeld(error.problem)) return
    const delayMs = this.#delayMs(token)
    if (delayMs <= 0) return
    const { timers, ending } = this.#parts
    await timers.sleep(delayMs, AbortSignal.any([request.signal, ending]))
  }

  #delayMs(token: string): number {
    const { caps, clock } = this.#parts
    const now = clock.monotonicMs()
    const atOnceMs = AT_ONCE_S * 1_000
    const from = Math.max(now, this.#clearAt.get(token) ?? 0)
    const clearAt = Math.min(from + 1_000 / caps.refusalsPerSecond, now + atOnceMs + LONGEST_MS)
    this.#clearAt.delete(token)
    this.#clearAt.set(token, clearAt)
    if (this.#clearAt.size > MOST_TOKENS) this.#clearAt.delete(this.#clearAt.keys().next().value as string)
    return clearAt - atOnceMs - now
  }
}
