/**
 * How long one try may go unanswered. Whatever it is about, a gateway says by itself after ten seconds that it has not come to an end: who
 * says nothing for longer has been swallowed. An answer that is of use for a while only, as a heartbeat's, is asked for again sooner.
 */

/** A gateway says by then that it has not come to an end. */
const SPOKEN_WITHIN_MS = 10_000
export const ANSWER_WITHIN_MS = 12_000
/** The least that a gateway has, however short the lease is. */
const SHORTEST_MS = 500
const LONGEST_MS = 5_000

/**
 * `usefulMs` as long as an answer is of use: half of that, so that there is time for another try; the last one that fits has what is left.
 * Later nothing is lost by waiting. `leftMs` of it is left now, and `pauseMs` would pass before the try after this one.
 */
export function patienceOf(usefulMs: number, leftMs: number, pauseMs: number): number {
  if (usefulMs === Number.POSITIVE_INFINITY || leftMs <= 0) return ANSWER_WITHIN_MS
  const withinMs = Math.max(SHORTEST_MS, Math.min(LONGEST_MS, usefulMs / 2))
  if (leftMs - withinMs - pauseMs >= SHORTEST_MS) return withinMs
  return Math.min(ANSWER_WITHIN_MS, Math.max(SHORTEST_MS, leftMs))
}

/** Who was waited for no longer than this may be slow: that says nothing of the lines. */
export const tellsOfLines = (withinMs: number): boolean => withinMs >= SPOKEN_WITHIN_MS
