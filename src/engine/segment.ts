/**
 * A segment: words about one job that go into one commit. An owner's words follow each other for as long as it stays the
 * owner; those of anybody else for as long as they only leave something behind and move nothing.
 */
import type { Enqueue } from '../core/command.ts'
import type { Decision } from '../core/decide.ts'
import type { Event } from '../core/event.ts'
import { type Heard, heardOf } from '../core/flow/heard.ts'
import type { Job, Time } from '../core/job.ts'
import { speaksAsOwner } from '../core/ownership.ts'
import { leaseEndsAt, type Step } from '../core/steps.ts'
import type { Body, Transaction } from '../store/store.ts'
import type { Word } from './engine.ts'
import { wordBodies } from './word-bodies.ts'

export interface Segment {
  readonly before: Job
  readonly after: Job
  readonly events: readonly Event[]
  readonly bodies: readonly Body[]
  readonly notAfter: Time | undefined
  readonly successor: Omit<Enqueue, 'id'> | undefined
  readonly tx: Transaction | undefined
  /** What one of the job's flow keys hears by it. */
  readonly heard?: Heard | undefined
}

type Accepted = Extract<Decision, { kind: 'accepted' }>

// Most segments are one word that ends a job; what they have none of need not be made for each.
const NO_EVENTS: readonly Event[] = []
const NO_BODIES: readonly Body[] = []

/** A segment in the making: takes words for as long as they may go into one commit. */
export class OpenSegment {
  readonly #before: Job | undefined
  readonly #tx: Transaction | undefined
  readonly #steps: readonly Step[]
  /** The record with everything applied so far. */
  job: Job | undefined
  #byOwner = false
  #closed = false
  #events = NO_EVENTS
  #bodies = NO_BODIES
  #successor: Accepted['successor']
  #heard: Heard | undefined

  constructor(before: Job | undefined, tx: Transaction | undefined, steps: readonly Step[]) {
    this.#before = before
    this.job = before
    this.#tx = tx
    this.#steps = steps
  }

  /** A word that was taken has made events. */
  get begun(): boolean {
    return this.#events.length > 0
  }

  /** May this word go into the same commit? */
  admits(word: Word): boolean {
    if (!this.begun) return true
    if (this.#closed || word.tx !== this.#tx || speaksAsOwner(word.command) !== this.#byOwner) return false
    // A request id that a non-owner repeats within one call starts a new segment, so that the second is answered from the log.
    return this.#byOwner || !this.#events.some(({ requestId }) => requestId === word.command.requestId)
  }

  take(word: Word, { events, bodies, job, successor }: Accepted): void {
    this.#byOwner = speaksAsOwner(word.command)
    this.#closed = this.#byOwner ? job.lease === undefined : events.some(({ seq }) => seq !== undefined)
    this.#events = this.begun ? [...this.#events, ...events] : events
    this.#bodies = joined(joined(this.#bodies, wordBodies(word, events)), bodies)
    this.#successor = successor
    if (job.spec.flow !== undefined && this.job !== undefined) this.#heard = heardOf(this.job, word.command)
    this.job = job
  }

  /** Undefined where nothing is to be committed. */
  segment(): Segment | undefined {
    const before = this.#before
    if (before === undefined || this.job === undefined || !this.begun) return undefined
    return {
      before,
      after: this.job,
      events: this.#events,
      bodies: this.#bodies,
      notAfter: this.#byOwner && before.lease !== undefined ? leaseEndsAt(before, this.#steps) : undefined,
      successor: this.#successor,
      tx: this.#tx,
      heard: this.#heard,
    }
  }
}

/** A name that comes again has the text that came last. */
const joined = (a: readonly Body[], b: readonly Body[]): readonly Body[] => {
  if (a.length === 0) return b
  if (b.length === 0) return a
  return [...a.filter(({ name }) => b.every((later) => later.name !== name)), ...b]
}

/** Of what was decided about a job apart from others; undefined where core will not have it. */
export function segmentOf(job: Job, decision: Decision | undefined): Segment | undefined {
  if (decision?.kind !== 'accepted') return undefined
  const { events, bodies, successor } = decision
  return { before: job, after: decision.job, events, bodies, notAfter: undefined, successor, tx: undefined }
}
