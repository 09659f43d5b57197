/**
 * How many jobs a worker starts in a while, judged by how long handlers take. A place among the running is free again once
 * the mean time has passed (Little's law), and the mean of a few short handlers says nothing about long ones that still run:
 * it is all the time that was spent, theirs included, over the handlers that ended. A handler that ends before its call
 * returns has had the whole loop to itself, and is counted as if all places had been taken meanwhile.
 *
 * What ended lately counts: half of it is forgotten every 50 ms, but for the last sixteen, so that handlers which take longer
 * than that are remembered as well; and never more than 256 are, or ten thousand that did nothing would outweigh for half a
 * second what takes 20 ms each. Rejected: counting starts, of which there are few where little is held, so that little would
 * be held for ever; a mean that every handler moves by a share of its own, which after one long handler among a hundred
 * short ones was that of neither.
 */
const HALF_LIFE_MS = 50
const REMEMBERED = { least: 16, most: 256 }

export class Pace {
  readonly #concurrency: number
  /** Handlers that ended, and how long they took together. */
  #ended = 0
  #tookMs = 0
  /** How long those have taken that were running when they were last looked at. */
  #runningMs = 0
  #lookedMs = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  ended(tookMs: number, atOnce: boolean): void {
    this.#ended += 1
    this.#tookMs += atOnce ? tookMs * this.#concurrency : tookMs
  }

  look(nowMs: number, runningMs: number): void {
    const fresh = this.#ended * 0.5 ** ((nowMs - this.#lookedMs) / HALF_LIFE_MS)
    const remembered = Math.max(REMEMBERED.least, Math.min(REMEMBERED.most, fresh))
    const kept = Math.min(1, remembered / this.#ended)
    this.#ended *= kept
    this.#tookMs *= kept
    this.#runningMs = runningMs
    this.#lookedMs = nowMs
  }

  /** None while nobody knows. */
  startsWithin(ms: number): number {
    if (this.#ended === 0) return 0
    return (this.#concurrency * ms * this.#ended) / (this.#tookMs + this.#runningMs)
  }
}
