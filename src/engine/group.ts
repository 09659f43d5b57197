/**
 * The words of one call about one job, in their order, on their way through load, decide and commit.
 *
 * A group is cut into segments, one commit each: an owner's words one after the other for as long as it stays the
 * owner; any other word by itself. What a segment answers is provisional until its commit is applied.
 */
import { assert } from '../core/assert.ts'
import type { Enqueue } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import type { Annotation, Event } from '../core/event.ts'
import type { Job, JobId, Receipt, Time } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Body, Loaded, Transaction } from '../store/store.ts'
import type { Answer, Word } from './engine.ts'
import { bodyViolations, wordBodies } from './word-bodies.ts'

/** How much must be read before the next word can be judged. */
type Need = 'nothing' | 'record' | 'caused'

// Most groups are one word that ends a job; what they have none of need not be made for each.
const NO_ANNOTATIONS: readonly Annotation[] = []
const NO_EVENTS: readonly Event[] = []
const NO_BODIES: readonly Body[] = []

export interface Segment {
  readonly group: Group
  readonly before: Job
  readonly after: Job
  readonly events: readonly Event[]
  readonly bodies: readonly Body[]
  readonly notAfter: Time | undefined
  readonly successor: Omit<Enqueue, 'id'> | undefined
  readonly tx: Transaction | undefined
}

export class Group {
  readonly id: JobId
  readonly tenant: string | undefined
  readonly words: Word[] = []
  need: Need
  conflicts = 0
  /** Late words to be kept beside the log. */
  annotations: readonly Annotation[] = NO_ANNOTATIONS
  /** Where each word's answer goes. */
  readonly #places: number[] = []
  #job: Job | undefined
  /** The first word without a final answer. */
  #next = 0
  /** The word that `#caused` is about. */
  #causedFor = -1
  #caused: readonly Event[] | undefined
  /** Where the segment under way began. */
  #segmentFrom = 0

  constructor(id: JobId, tenant: string | undefined, held: Job | undefined) {
    this.id = id
    this.tenant = tenant
    this.#job = held
    this.need = held === undefined ? 'record' : 'nothing'
  }

  add(word: Word, place: number): void {
    this.words.push(word)
    this.#places.push(place)
    if (this.words.length === 1 && !speaksAsOwner(word)) this.need = 'caused'
  }

  get done(): boolean {
    return this.#next === this.words.length
  }

  get requestId(): string | undefined {
    return this.need === 'caused' ? this.words[this.#next]?.command.requestId : undefined
  }

  loaded(found: Loaded | undefined): void {
    this.#job = found?.job
    if (this.need === 'caused' || found === undefined) {
      this.#causedFor = this.#next
      this.#caused = found?.caused
    }
    this.need = 'nothing'
  }

  /** Judges words until something must be committed or read first; undefined where nothing is to be committed. */
  segment(now: Time, answers: Answer[]): Segment | undefined {
    const before = this.#job
    let job = before
    let events: readonly Event[] = NO_EVENTS
    let bodies: readonly Body[] = NO_BODIES
    let notAfter: Time | undefined
    let successor: Omit<Enqueue, 'id'> | undefined
    const tx = this.words[this.#next]?.tx
    this.#segmentFrom = this.#next
    while (this.#next < this.words.length) {
      const word = this.words[this.#next] as Word
      const byOwner = speaksAsOwner(word)
      const begun = events.length > 0
      if (begun && (!byOwner || word.tx !== tx)) break
      if (!byOwner && this.#causedFor !== this.#next) {
        this.need = 'caused'
        break
      }
      const place = this.#places[this.#next] as number
      const refusal = this.#malformed(word, job)
      if (refusal !== undefined) {
        answers[place] = { ok: false, refusal }
        this.#next += 1
        continue
      }
      const decision = decide(job, word.command, now, this.#causedFor === this.#next ? this.#caused : undefined)
      if (decision.kind === 'refused') {
        const final = this.#causedFor === this.#next || decision.refusal.code === 'INVALID'
        if (!final && !begun) this.need = 'caused'
        if (!final) break
        answers[place] = { ok: false, refusal: decision.refusal }
        if (decision.annotation !== undefined) this.annotations = [...this.annotations, decision.annotation]
        this.#next += 1
        continue
      }
      assert(job !== undefined, 'only a job that exists accepts a word')
      this.#next += 1
      if (decision.kind === 'replayed') {
        answers[place] = replayed(job, decision.receipt)
        continue
      }
      if (byOwner) notAfter ??= before?.lease?.expiresAt
      const texts = wordBodies(word, decision.events)
      events = begun ? [...events, ...decision.events] : decision.events
      bodies = joined(joined(bodies, texts), decision.bodies)
      successor = decision.successor
      job = decision.job
      answers[place] = accepted(job)
      if (!byOwner || job.lease === undefined) break
    }
    if (before === undefined || job === undefined || events.length === 0) return undefined
    return { group: this, before, after: job, events, bodies, notAfter, successor, tx }
  }

  /** The segment under way is in the store. */
  applied(after: Job): void {
    this.#job = after
    this.#segmentFrom = this.#next
  }

  /** The segment under way is to be judged again, on a record that is read again. */
  again(): void {
    this.#next = this.#segmentFrom
    this.#causedFor = -1
    this.#job = undefined
    this.need = speaksAsOwner(this.words[this.#next] as Word) ? 'record' : 'caused'
  }

  /** The segment under way is refused for good, and so is what was to come on top of it. */
  refuse(refusal: (word: Word) => Refusal, answers: Answer[]): void {
    for (let i = this.#segmentFrom; i < this.#next; i += 1) {
      answers[this.#places[i] as number] = { ok: false, refusal: refusal(this.words[i] as Word) }
    }
    this.#segmentFrom = this.#next
    this.#job = undefined
    this.need = 'record'
  }

  /** Nothing more can be said about this job. */
  refuseAll(refusal: (word: Word) => Refusal, answers: Answer[]): void {
    this.#next = this.words.length
    this.refuse(refusal, answers)
  }

  #malformed(word: Word, job: Job | undefined): Refusal | undefined {
    const command = word.command.type
    if (job === undefined)
      return refuse('NOT_FOUND', { command, jobId: this.id, message: `There is no job ${this.id}.` })
    const violations = word.bodies === undefined ? [] : bodyViolations(word)
    return violations.length === 0 ? undefined : refuse('INVALID', { command, job, violations })
  }
}

/** Under a fence of its own. A reaper's `stall` names somebody else's. */
const speaksAsOwner = ({ command }: Word): boolean =>
  'fence' in command && command.fence !== undefined && command.type !== 'stall'

const accepted = (job: Job): Answer => ({
  ok: true,
  jobId: job.id,
  rev: job.rev,
  state: job.state,
  at: job.updatedAt,
  replayed: false,
  cancel: job.cancel,
})

const replayed = (job: Job, { rev, state, at }: Receipt): Answer => ({
  ok: true,
  jobId: job.id,
  rev,
  state,
  at,
  replayed: true,
  cancel: job.cancel,
})

const joined = (a: readonly Body[], b: readonly Body[]): readonly Body[] =>
  a.length === 0 ? b : b.length === 0 ? a : [...a, ...b]
