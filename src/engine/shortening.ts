import { compact } from '../core/compact.ts'
import { derive } from '../core/evolve.ts'
import type { Job, Time } from '../core/job.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { differences } from './difference.ts'
import { logOf } from './log-of.ts'

/** Jobs looked at together, and events that a round reads, about. */
const JOBS = 5
const EVENTS = 50_000
/** Logs longer than this are left alone: one is read and written as a whole. */
const LONGEST = 200_000
/** A commit may come later than one whose job ended after: ends of the last moments are left to the next round. */
export const SETTLED_MS = 10_000
/** How far back the first walk of a process looks. */
const BACK_MS = 24 * 60 * 60 * 1_000

/**
 * A walk over the ends of jobs with long logs that are so old, in the order of time, each looked at once; after a restart,
 * those of a day once more. (Looking for the events that make logs long instead read each of them: five jobs with 100,000 made every
 * call wait for seconds.)
 */
export class Shortening {
  readonly #store: Store
  readonly #log: Log
  readonly #ageMs: number
  readonly #wants: (job: Job) => boolean
  /** The stretch of time that is being walked over, and how far; absent between walks. */
  #walk: { readonly from: Time; readonly to: Time; readonly cursor: string | undefined } | undefined
  #reached: Time | undefined

  constructor(store: Store, log: Log, ageMs: number, wants: (job: Job) => boolean) {
    this.#store = store
    this.#log = log
    this.#ageMs = Math.max(SETTLED_MS, ageMs)
    this.#wants = wants
  }

  /** All jobs whose ends are old enough have been looked at. */
  get isAtItsEnd(): boolean {
    return this.#walk === undefined
  }

  async round(now: Time, signal: AbortSignal): Promise<void> {
    const until = now - this.#ageMs
    const { from, to } = this.#walk ?? { from: this.#reached ?? until - BACK_MS, to: until }
    let cursor = this.#walk?.cursor
    let read = 0
    do {
      const page = await this.#store.find({ longEnded: { from, to }, order: 'oldest', limit: JOBS, cursor })
      for (const job of page.jobs) {
        if (signal.aborted) return
        if (this.#wants(job)) read += await this.#shorten(job)
      }
      cursor = page.cursor
      this.#walk = { from, to, cursor }
    } while (cursor !== undefined && read < EVENTS && !signal.aborted)
    if (cursor !== undefined) return
    this.#walk = undefined
    this.#reached = to
  }

  /** Answers how many events it has read. */
  async #shorten(job: Job): Promise<number> {
    if (job.rev > LONGEST) {
      this.#log.warn('a log was not shortened: it is too long to be read at once', {
        job_id: job.id,
        revisions: job.rev,
      })
      return 1
    }
    const events = await logOf(this.#store, job.id)
    const found = compact(events)
    if (found === undefined) return events.length
    const gone = new Set(found.replaces)
    const rest = [...events.filter(({ rev }) => !gone.has(rev)), found.event].sort((a, b) => a.rev - b.rev)
    const lost = differences(derive(rest), job)
    if (lost.length > 0)
      this.#log.warn('a log was not shortened: its fold would differ', { job_id: job.id, difference: lost[0] })
    else await this.#store.commit([{ kind: 'compact', before: job, event: found.event, replaces: found.replaces }])
    return events.length
  }
}
