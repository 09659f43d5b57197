/**
 * Refusals, paced. Under siege most of a gateway's time goes to those who are turned away and are back at once: each of
 * them is heard, read and answered. So a token is told of so many refusals a second, and some at once; what is more is
 * told later, and meanwhile that connection asks nothing else. Whoever is refused now and then never notices; a flood from any
 * number of connections becomes as slow as they are many. Answers to what was done, refusals by the state of a job,
 * and that the store is away are not held.
 */
import type { Clock } from '../system/clock.ts'
import type { Timers } from '../system/timers.ts'
import type { Caps } from './caps.ts'
import { Objected, type Problem } from './problem.ts'

/** Refusals that are told at once, in seconds' worth of them. */
const AT_ONCE_S = 2
/** Nobody is held longer: clients give up on an answer after some ten seconds. */
const LONGEST_MS = 5_000
const MOST_TOKENS = 10_000
/** For how the request was made: what it is, or that it is too much, which a cap says. */
const ILL_MADE: ReadonlySet<number> = new Set([400, 413, 415])
const isHeld = ({ status, body }: Problem): boolean => ILL_MADE.has(status) || body['cap'] !== undefined

export interface RefusalsParts {
  readonly caps: Caps
  readonly clock: Clock
  readonly timers: Timers
  /** Nobody is held while the gateway ends. */
  readonly ending: AbortSignal
}

export class Refusals {
  readonly #parts: RefusalsParts
  /** When, at this pace, a token has been told of all its refusals. The one refused longest ago goes first. */
  readonly #clearAt = new Map<string, number>()

  constructor(parts: RefusalsParts) {
    this.#parts = parts
  }

  /** Resolves when this token may be told of another refusal, or when nobody waits for that any more. */
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
