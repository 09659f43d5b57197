/**
 * The words of one call about one job, in their order, on their way through load, decide and commit, segment by
 * segment. What a segment answers is provisional until its commit is applied.
 */
import { assert } from '../core/assert.ts'
import { stillHere } from '../core/decide/heartbeat.ts'
import { type Decision, decide } from '../core/decide.ts'
import type { Annotation, Event } from '../core/event.ts'
import type { Job, JobId, Receipt, Time } from '../core/job.ts'
import { speaksAsOwner } from '../core/ownership.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { leaseEndsAt, type Step } from '../core/steps.ts'
import type { Loaded, LoadItem } from '../store/store.ts'
import type { Answer, Word } from './engine.ts'
import type { FlowKeys } from './flow-keys.ts'
import { OpenSegment, type Segment } from './segment.ts'
import { bodyViolations } from './word-bodies.ts'

/** How much must be read before the next word can be judged: the record, or also what the word has caused already. */
type Need = 'nothing' | 'record' | 'caused'

/** What is known of the keys that jobs speak to. */
type Levels = Pick<FlowKeys, 'levelOf'>

/** Words of one group that are looked up in one load. */
const LOOKED_UP = 100

const NO_ANNOTATIONS: readonly Annotation[] = []
const NO_CAUSED: readonly (readonly Event[])[] = []
const NO_EVENTS: readonly Event[] = []

export class Group {
  readonly id: JobId
  readonly tenant: string | undefined
  need: Need
  /** Conflicts since this group last committed something. */
  conflicts = 0
  /** Whether it has the turn to speak about its job. Who speaks in a transaction needs none: it holds what others wait for. */
  turn: 'none' | 'taken' | 'none needed'
  /** Late words to be kept beside the log. */
  annotations: readonly Annotation[] = NO_ANNOTATIONS
  readonly #words: Word[]
  /** For each word the place of its answer. */
  readonly #places: number[]
  #job: Job | undefined
  /** The first word without a final answer. */
  #next = 0
  /** The events that words from `#causedFrom` on have caused before, as far as they were read. */
  #caused = NO_CAUSED
  #causedFrom = 0
  /** The first word of the segment under way. */
  #segmentFrom = 0
  /** The record and events that were applied in a caller's transaction, which is still open. */
  #ours: { readonly job: Job; readonly events: readonly Event[] } | undefined

  constructor(word: Word, place: number, held: Job | undefined) {
    this.id = word.id
    this.tenant = word.tenant
    // Not pushed: that makes room for seventeen, and most groups are one word.
    this.#words = [word]
    this.#places = [place]
    this.#job = held
    this.need = !speaksAsOwner(word.command) ? 'caused' : held === undefined ? 'record' : 'nothing'
    this.turn = word.tx === undefined ? 'none' : 'none needed'
  }

  add(word: Word, place: number): void {
    this.#words.push(word)
    this.#places.push(place)
    if (word.tx !== undefined) this.turn = 'none needed'
  }

  /** The first word is its owner's, who rarely meets a conflict. */
  get byOwner(): boolean {
    return speaksAsOwner((this.#words[0] as Word).command)
  }

  /** Different for any two groups. */
  get name(): string {
    return `${this.id}/${this.#words[0]?.command.requestId}`
  }

  /** Words without a final answer, for the caller whose turn it is to say them. */
  rest(): { readonly words: readonly Word[]; readonly places: readonly number[] } {
    return { words: this.#words.slice(this.#next), places: this.#places.slice(this.#next) }
  }

  get done(): boolean {
    return this.#next === this.#words.length
  }

  /** The items to load: the record, once for each word whose request is looked up with it. */
  wanted(): readonly LoadItem[] {
    const { id, tenant } = this
    if (this.need === 'record') return [{ id, tenant }]
    const byOwner = speaksAsOwner((this.#words[this.#next] as Word).command)
    const items: LoadItem[] = []
    for (let i = this.#next; i < this.#words.length && items.length < LOOKED_UP; i += 1) {
      const word = this.#words[i] as Word
      if (i > this.#next && (byOwner || speaksAsOwner(word.command))) break
      items.push({ id, tenant, requestId: word.command.requestId })
    }
    return items
  }

  loaded(found: readonly (Loaded | undefined)[]): void {
    // A change of the caller's open transaction is not visible to this read: it is known here alone.
    this.#job = this.#ours?.job ?? found[0]?.job
    if (this.need === 'caused' || this.#job === undefined) {
      this.#causedFrom = this.#next
      this.#caused = found.map((each, i) => [...(each?.caused ?? []), ...this.#oursBy(this.#next + i)])
    }
    this.need = 'nothing'
  }

  #oursBy(place: number): readonly Event[] {
    const requestId = this.#words[place]?.command.requestId
    return this.#ours?.events.filter((event) => event.requestId === requestId) ?? NO_EVENTS
  }

  /** The next word is the owner's, and its lease has ended by the clock: it would be refused. */
  isOver(now: Time, steps: readonly Step[]): boolean {
    const job = this.#job
    if (job?.lease === undefined || job.lease.expiresAt > now) return false
    return leaseEndsAt(job, steps) <= now && speaksAsOwner((this.#words[this.#next] as Word).command)
  }

  /** Judges words until something must be committed or read first; undefined where nothing is to be committed. */
  segment(now: Time, steps: readonly Step[], keys: Levels, answers: Answer[]): Segment | undefined {
    const open = new OpenSegment(this.#job, this.#words[this.#next]?.tx, steps)
    this.#segmentFrom = this.#next
    while (this.#next < this.#words.length) {
      const word = this.#words[this.#next] as Word
      if (!open.admits(word)) break
      const decision = this.#decide(word, open.job, now, steps, keys)
      if (decision === undefined) {
        // Whether this word was said before must be read first: at once, or once the segment so far is committed.
        if (!open.begun) this.need = 'caused'
        break
      }
      const place = this.#places[this.#next] as number
      this.#next += 1
      if (decision.kind === 'refused') {
        answers[place] = { ok: false, refusal: decision.refusal }
        if (decision.annotation !== undefined) this.annotations = [...this.annotations, decision.annotation]
      } else if (decision.kind === 'replayed') {
        assert(open.job !== undefined, 'only what exists has been spoken to before')
        answers[place] = replayed(open.job, decision.receipt)
      } else {
        open.take(word, decision)
        answers[place] = accepted(decision.job)
      }
    }
    return open.segment()
  }

  /** The segment under way is in the store. */
  applied({ after, events, tx }: Segment): void {
    if (tx !== undefined) this.#ours = { job: after, events: [...(this.#ours?.events ?? NO_EVENTS), ...events] }
    this.#job = after
    this.conflicts = 0
    this.#segmentFrom = this.#next
    // Events that the commit has caused are not among those that were read before it.
    this.#caused = NO_CAUSED
  }

  /** The segment under way is to be judged again, on a record that is read again. */
  again(): void {
    this.conflicts += 1
    this.#next = this.#segmentFrom
    this.#reread()
  }

  /** Refuses all words of the segment under way. */
  refuse(refusal: (word: Word) => Refusal, answers: Answer[]): void {
    for (let i = this.#segmentFrom; i < this.#next; i += 1) {
      const place = this.#places[i] as number
      const answer = answers[place]
      if (answer !== undefined && (!answer.ok || answer.replayed)) continue
      answers[place] = { ok: false, refusal: refusal(this.#words[i] as Word) }
    }
    this.#segmentFrom = this.#next
    this.#reread()
  }

  /** Refuses all words that are left. */
  refuseAll(refusal: (word: Word) => Refusal, answers: Answer[]): void {
    this.#next = this.#words.length
    this.refuse(refusal, answers)
  }

  #reread(): void {
    const word = this.#words[this.#next]
    this.#caused = NO_CAUSED
    this.#job = undefined
    this.need = word === undefined || speaksAsOwner(word.command) ? 'record' : 'caused'
  }

  /** Undefined: it must be read first whether this word was said before. */
  #decide(word: Word, job: Job | undefined, now: Time, steps: readonly Step[], keys: Levels): Decision | undefined {
    const caused = this.#caused[this.#next - this.#causedFrom]
    if (caused === undefined && !speaksAsOwner(word.command)) return undefined
    if (job === undefined) {
      const message = `There is no job ${this.id}.`
      return refused(refuse('NOT_FOUND', { command: word.command.type, jobId: this.id, message }))
    }
    const command = spoken(word, job, keys)
    const violations = bodyViolations(word)
    if (violations.length > 0) return refused(refuse('INVALID', { command: command.type, job, violations }))
    const decision = decide(job, command, now, caused, steps)
    const final = decision.kind !== 'refused' || caused !== undefined || decision.refusal.code === 'INVALID'
    return final ? decision : undefined
  }
}

function spoken({ command, byFence }: Word, job: Job, keys: Levels): Word['command'] {
  if (byFence === true && command.type === 'heartbeat') return stillHere(job, command.fence, command.requestId)
  // What its key went through is the engine's to say, not the worker's.
  return command.type === 'fail' && job.spec.flow !== undefined
    ? { ...command, level: keys.levelOf(job, command.fault.key) }
    : command
}

const refused = (refusal: Refusal): Decision => ({ kind: 'refused', refusal, annotation: undefined })

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
