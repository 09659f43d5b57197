/**
 * Upkeep that one process of an installation does for all of them. Every round leaves a notch in the store; the process on duty is
 * the one that left the last, and the others look at it now and then.
 *
 *   off duty  another's notch is young: it looks again later, at a time of its own, so that of many somebody always looks soon.
 *             Leaves by finding the notch old.
 *   on duty   the last notch is this process's own: a round each `everyMs`. Leaves by finding another's, having been late.
 *
 * Two that find an old notch together are both on duty until one of them sees the other's notch; so only what any number of processes
 * may do at once is upkeep. Rejected: a lock that the one on duty holds, which a pooler would take away, or a process that is stopped keep.
 *
 * Invariant: while a process is open, nothing waits for a round longer than `TAKEN_OVER_ROUNDS` rounds and half a second.
 */
import type { Time } from '../core/job.ts'
import { fractionOf, type Random } from '../system/random.ts'

/** The last notch, and the store's clock when it was looked at. */
export interface Notch {
  readonly now: Time
  readonly at: Time
  /** This process left it. */
  readonly isOwn: boolean
}

export interface DutyParts {
  readonly lastNotch: () => Promise<Notch>
  readonly random: Random
  readonly everyMs: number
}

/** Notches may stand for so much longer than a round takes: stores keep the time of one to half a second. */
const NOTCHED_WITHIN_MS = 500
/** In rounds: how old a notch is that somebody on duty would have renewed, and the longest pause between two looks at it. */
const OLD = 2
const LOOK = 5
/** A notch is old after two rounds and was looked at right before, at the worst; the next look is five rounds later. */
export const TAKEN_OVER_ROUNDS = OLD + LOOK

export class Duty {
  readonly #parts: DutyParts
  #pauseMs = 0
  #isMine = false
  #hasLooked = false

  constructor(parts: DutyParts) {
    this.#parts = parts
  }

  /** As of the last look. */
  get isMine(): boolean {
    return this.#isMine
  }

  /** How long not to look again. */
  get pauseMs(): number {
    return this.#pauseMs
  }

  /** Whether the next round is this process's. */
  async look(): Promise<boolean> {
    const { lastNotch, random, everyMs } = this.#parts
    const { now, at, isOwn } = await lastNotch()
    const oldMs = NOTCHED_WITHIN_MS + OLD * everyMs
    const ageMs = now - at
    this.#isMine = isOwn || ageMs >= oldMs
    // A process that has just come may be all there is, and the notch that of the one it replaces: it looks when it could know.
    const longestMs = this.#hasLooked ? Math.max(oldMs, LOOK * everyMs) : oldMs - ageMs
    const shortestMs = Math.min(oldMs, longestMs)
    this.#pauseMs = this.#isMine ? everyMs : shortestMs + (longestMs - shortestMs) * fractionOf(random)
    this.#hasLooked = true
    return this.#isMine
  }
}
