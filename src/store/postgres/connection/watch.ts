/**
 * Looks at connections now and then. One on which something was asked and nothing has come for a while is asked after, on
 * a fresh one: is the server at it? Then it is slow, and worth waiting for. If not, the answer is lost, and all
 * connections are given up at once: whatever swallowed it (a firewall that forgot, a server that was moved) has swallowed
 * the others as well, and each would have to be found out by a caller that waits.
 */
import type { Timers } from '../../../system/timers.ts'
import { within } from '../../../system/within.ts'
import { areAtWork, endBackends } from './backends.ts'
import { Link } from './link.ts'
import type { Attempt } from './trouble.ts'

export interface WatchParts {
  readonly timers: Timers
  /** How long a statement may go unanswered before the server is asked about its backend. */
  readonly answerWithinMs: number
  /** Another connection, which is not watched; or why there is none. */
  readonly fresh: () => Promise<Link | Attempt>
  /** Called for a link that broke, or was given up. */
  readonly lost: (link: Link) => void
}

/** Looks within the time to answer. What is asked between two looks is taken to be as old as the first of them. */
const LOOKS = 5
/** How long the answer about backends is waited for. */
const ASKED_WITHIN_MS = 5_000

export class Watch {
  readonly #parts: WatchParts
  readonly #links = new Set<Link>()
  /** Present while there is something to look at. */
  #timer: Disposable | undefined
  /** Present while the server is asked about backends; `#asked`: on which connection, once there is one. */
  #asking: Promise<void> | undefined
  #asked: Link | undefined

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  add(link: Link): void {
    this.#links.add(link)
    void link.gone.then(() => {
      this.#links.delete(link)
      if (!link.isClosed) this.#parts.lost(link)
    })
    this.#timer ??= this.#soon()
  }

  /** Gives up all links: statements under way on them fail with `reason`. */
  abandonAll(reason: Error): void {
    for (const link of this.#links) link.abandon(reason)
  }

  async close(): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    this.#asked?.abandon(undefined)
    await Promise.all(Array.from(this.#links, (link) => link.close(this.#parts.timers)))
    await this.#asking
  }

  #soon(): Disposable {
    const { timers, answerWithinMs } = this.#parts
    return timers.after(answerWithinMs / LOOKS, () => {
      this.#look()
      this.#timer = this.#links.size === 0 ? undefined : this.#soon()
    })
  }

  #look(): void {
    const { answerWithinMs } = this.#parts
    const silent: Link[] = []
    for (const link of this.#links) {
      link.look()
      const { workMs } = link.role
      if ((link.quiet * answerWithinMs) / LOOKS > workMs) link.abandon(new Error(`no answer for ${workMs / 1_000} s`))
      else if (link.unseen >= LOOKS) silent.push(link)
    }
    if (silent.length === 0 || this.#asking !== undefined) return
    this.#asking = this.#askAfter(silent).finally(() => {
      this.#asking = undefined
    })
  }

  async #askAfter(silent: readonly Link[]): Promise<void> {
    const { timers, answerWithinMs, fresh } = this.#parts
    const came = await fresh().catch(() => undefined)
    const asked = came instanceof Link ? came : undefined
    this.#asked = asked
    if (asked === undefined || !(await this.#areAlive(asked, silent))) {
      const abandoned = [...this.#links]
      this.abandonAll(new Error(`no answer for ${answerWithinMs / 1_000} s, and the server is not at it`))
      if (asked !== undefined) await within(timers, ASKED_WITHIN_MS, endBackends(asked, abandoned))
    }
    this.#asked = undefined
    await asked?.close(timers)
  }

  /** The server is at what they wait for; or was until just now, and it has come. */
  async #areAlive(asked: Link, silent: readonly Link[]): Promise<boolean> {
    const { timers, answerWithinMs } = this.#parts
    // Half of it: what had to wait for a place in a pooler has begun later than it was asked.
    const atWork = await within(timers, ASKED_WITHIN_MS, areAtWork(asked, silent, answerWithinMs / 2))
    if (atWork === true) for (const link of silent) link.vouch()
    const quiet = silent.filter((link) => link.isQuiet && link.unseen >= LOOKS)
    if (atWork === true || quiet.length === 0) return true
    return quiet.length < silent.length && this.#areAlive(asked, quiet)
  }
}
