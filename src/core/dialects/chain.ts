/**
 * What a told log says of its own completeness. Each entry has the revision of the event it tells, and the one up to which
 * everything had been told or needed no telling before it; so a log from which anything was lost, an event of ours before it
 * was told or a line afterwards, does not hold together any more.
 */
import type { Event } from '../event.ts'

/** The fields that every told entry has besides the document's own, in any dialect. */
export const MARKS = ['rev', 'after_rev', 'move', 'moves', 'implied'] as const

export interface Marks {
  readonly rev: number
  readonly after_rev: number
  /** Where one event takes several entries: which of how many. */
  readonly move?: number
  readonly moves?: number
  /** Nobody did this: the document has no other way to where the job is. */
  readonly implied?: true
}

/** Follows the events of one job, and says of each how much there was before it. */
export class Chain {
  #afterRev: number | undefined
  #seq: number | undefined
  #rev = 0
  /** Revisions that may be missing: what was compacted. */
  #compacted: number

  /** `partial`: more events follow, among which may be what was compacted. */
  constructor(events: readonly Event[], partial: boolean) {
    this.#compacted = partial ? Number.POSITIVE_INFINITY : events.reduce((sum, event) => sum + compactedBy(event), 0)
  }

  /** Up to where everything had been told before this event, or is silent; 0 at the beginning of a record. */
  follow(event: Event, fresh: boolean): number {
    const before = event.rev - revisionsOf(event)
    const missing = before - this.#rev
    const isGap = event.seq !== undefined && this.#seq !== undefined && event.seq !== this.#seq + 1
    if (this.#afterRev === undefined || isGap || missing > this.#compacted) this.#afterRev = before
    else this.#compacted -= missing
    if (fresh) this.#afterRev = 0
    this.#rev = event.rev
    this.#seq = event.seq ?? this.#seq
    return this.#afterRev
  }

  /** The event was told: what comes next comes after it. */
  told(event: Event): void {
    this.#afterRev = event.rev
  }
}

/** One entry may stand for several heartbeats. */
const revisionsOf = (event: Event): number => (event.type === 'heartbeat' ? event.payload.count : 1)
const compactedBy = (event: Event): number => (event.type === 'compacted' ? event.payload.count - 1 : 0)
