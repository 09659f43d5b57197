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
  /** Handlers that ended, and how long they took together, since they were last looked at: all that changes with every job. */
  #ended = 0
  #tookMs = 0
  /**
   * The same from before, and how long those had taken then that were still running. An array of fractions, because a field that holds
   * whole numbers until the first look undoes what was compiled by then for every job (1.5 µs a job in a short drain).
   */
  readonly #before = new Float64Array(3)
  #lookedMs = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  ended(tookMs: number, atOnce: boolean): void {
    this.#ended += 1
    this.#tookMs += atOnce ? tookMs * this.#concurrency : tookMs
  }

  look(nowMs: number, runningMs: number): void {
    const [before = 0, beforeMs = 0] = this.#before
    const ended = before + this.#ended
    const fresh = ended * 0.5 ** ((nowMs - this.#lookedMs) / HALF_LIFE_MS)
    const remembered = Math.max(REMEMBERED.least, Math.min(REMEMBERED.most, fresh))
    const kept = Math.min(1, remembered / ended)
    this.#before.set([ended * kept, (beforeMs + this.#tookMs) * kept, runningMs])
    this.#ended = 0
    this.#tookMs = 0
    this.#lookedMs = nowMs
  }

  /** How many jobs will start within `ms`; 0 before any has ended. */
  startsWithin(ms: number): number {
    const before = this.#before
    const ended = (before[0] ?? 0) + this.#ended
    if (ended === 0) return 0
    return (this.#concurrency * ms * ended) / ((before[1] ?? 0) + (before[2] ?? 0) + this.#tookMs)
  }
}
