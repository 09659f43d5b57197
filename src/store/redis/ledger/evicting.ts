/**
 * Who has ended jobs leave the server, and when: one process at a time, by a turn, as long as there are some that ended a while ago.
 *
 * The turn is only for saving work: what two would have leave, one of them finds gone.
 */
import { idText } from '../../../core/id.ts'
import { reasonOf } from '../../../core/reason.ts'
import type { Log } from '../../../system/log.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Calls } from '../connection/calls.ts'
import type { Link } from '../connection/link.ts'
import { word } from '../connection/reply.ts'
import { digitsOf } from '../job/id-text.ts'
import { portions } from '../script/portions.ts'

export interface EvictingParts {
  readonly calls: Calls
  readonly link: Pick<Link, 'send'>
  readonly timers: Timers
  readonly lines: Log
  /** How long a job stays after it has ended: those who wait for its end have mostly asked by then. */
  readonly afterMs: number
}

/** Between two looks, at most and at least. */
const PAUSE_MS = 1_000
const LEAST_PAUSE_MS = 20
/** How long who is at it keeps the turn without a word. */
const TURN_MS = 10_000
/** Jobs that the ledger is asked for at once. */
const LOOKED_AT = 2_000
const AFTER_TROUBLE_MS = 10_000

export class Evicting {
  readonly #parts: EvictingParts
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** That it fails, since it last did not. */
  #isTold = false

  constructor(parts: EvictingParts) {
    this.#parts = parts
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { timers, lines, afterMs } = this.#parts
    const { signal } = this.#closing
    const pauseMs = Math.min(PAUSE_MS, Math.max(LEAST_PAUSE_MS, afterMs))
    for (;;) {
      await timers.sleep(this.#isTold ? AFTER_TROUBLE_MS : pauseMs, signal)
      if (signal.aborted) return
      try {
        await this.#round()
        this.#isTold = false
      } catch (error) {
        if (signal.aborted) return
        if (!this.#isTold) lines.warn('ended jobs do not leave Redis; it is tried again', { reason: reasonOf(error) })
        this.#isTold = true
      }
    }
  }

  async #round(): Promise<void> {
    const { calls, link } = this.#parts
    const turn = calls.meta.replace(/meta$/, 'evicts')
    if ((await link.send(['SET', turn, 'taken', 'NX', 'PX', String(TURN_MS)])) === null) return
    try {
      while (!this.#closing.signal.aborted && (await this.#evict())) await link.send(['PEXPIRE', turn, String(TURN_MS)])
    } finally {
      // Nobody minds where it is another's by now.
      link.send(['DEL', turn]).catch(() => {})
    }
  }

  /** Whether there may be more that can leave. */
  #evict(): Promise<boolean> {
    const { calls, afterMs } = this.#parts
    return calls.repeated(async () => {
      const now = calls.timeIn(await calls.call('notch', []))
      const ended = (await calls.evicted?.ended(now - afterMs, LOOKED_AT)) ?? []
      let count = 0
      for (const some of portions(ended, () => 0)) {
        const items = some.flatMap(({ id, rev }) => [digitsOf(idText(id)), String(rev)])
        const [, left] = await calls.call('evict', items)
        count += Number(word(left))
      }
      return ended.length === LOOKED_AT && count > 0
    })
  }
}
