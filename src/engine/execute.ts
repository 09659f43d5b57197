/**
 * How a word reaches a job: load, decide, commit, and nowhere else. (Removals, shortened logs, imports and words to keys commit by
 * themselves: no word to a job is among them.) A word about a job that a worker of this process owns
 * is judged on the record held here and needs no load; the commit compares revisions, so a stale guess costs a round
 * trip and never a mistake.
 */
import { decideTick } from '../core/decide.ts'
import { bondOf } from '../core/dialects/bond.ts'
import type { Event } from '../core/event.ts'
import type { Job, Time } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import { refuse } from '../core/refuse.ts'
import { isOwed, type Step } from '../core/steps.ts'
import type { Agenda } from '../store/agenda.ts'
import type { Change, DueAnswer, Store, Transaction, Verdict } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import { changeOf, successorOf } from './change.ts'
import type { Declarations } from './declarations.ts'
import type { Answer } from './engine.ts'
import type { FlowKeys, Hearing } from './flow-keys.ts'
import type { Group } from './group.ts'
import { type Hearsay, MET_AT_KEY } from './hearsay.ts'
import type { Holdings } from './holdings.ts'
import type { IdBlocks } from './id-blocks.ts'
import { Judging } from './judging.ts'
import type { Observer } from './observer.ts'
import { type Segment, segmentOf } from './segment.ts'
import { NOTICED_WITHIN_MS, type Steps } from './steps.ts'
import type { StoreClock } from './store-clock.ts'

export interface ExecutorParts {
  readonly store: Store
  readonly clock: StoreClock
  readonly steps: Steps
  readonly timers: Timers
  readonly monotonicMs: () => number
  readonly held: Holdings
  readonly ids: IdBlocks
  readonly observer: Observer
  /** For defects: store and core that disagree. */
  readonly log: Log
  readonly family: Family
  readonly flowKeys: FlowKeys
  readonly declarations: Pick<Declarations, 'note' | 'noteRule'>
  readonly hearsay: Pick<Hearsay, 'note' | 'announce'>
}

export interface Ticked {
  readonly due: number
  readonly moved: number
  /** There is more to do at once. */
  readonly more: boolean
}

/** Told of what concerns parents and children. */
export interface Family {
  /** `unsure`: said in a caller's transaction, which may still be rolled back. */
  ended(child: Job, unsure: boolean): void
  waits(parent: Job): void
}

export class Executor {
  readonly #parts: ExecutorParts
  /** Owned jobs whose leases may have ended: kept for the tick that can tell. */
  #spared: readonly Job[] = []
  /** Of those that wait to be admitted. */
  readonly judging: Judging

  constructor(parts: ExecutorParts) {
    this.#parts = parts
    this.judging = new Judging({
      ...parts,
      handOut: (limit) => this.#handedOut(limit, 'judgements'),
      commit: (segments) => this.#moved(segments),
    })
  }

  /** One round for all groups: load, decide, commit. A group that met a conflict, or has more words, is not done afterwards. */
  async round(open: readonly Group[], answers: Answer[]): Promise<void> {
    await this.#load(open)
    const ready: Ready[] = []
    await this.#sparing(open)
    const now = this.#parts.clock.now()
    for (const group of open) {
      const segment = group.need === 'nothing' ? this.#segmentOf(group, now, answers) : undefined
      if (segment !== undefined) ready.push({ group, segment })
    }
    const notes = annotations(open)
    if (ready.length === 0 && notes.length === 0) return
    for (const [tx, together] of byTransaction(ready)) {
      await this.#commit(together, tx, tx === undefined ? notes : [], answers)
    }
  }

  /** Judges what has come due and commits it. A job that moved meanwhile is handed out again. */
  async tick(limit: number): Promise<Ticked> {
    const { now, jobs, more = false } = await this.#handedOut(limit, 'ticks')
    const segments = (await this.#judgeable(jobs)).map((job) => ticked(job, now, this.#parts.steps.known))
    return { due: jobs.length, moved: await this.#moved(segments), more }
  }

  async #handedOut(limit: number, agenda: Agenda): Promise<DueAnswer> {
    const { store, clock, log } = this.#parts
    const askedMs = clock.asked()
    const answer = await store.due(limit, agenda)
    const { now, setBackMs = 0 } = answer
    clock.heard(now, askedMs)
    if (setBackMs > 0) log.warn('the store’s clock was set back; its time goes on', { by_ms: setBackMs })
    return answer
  }

  /** Commits what was decided about jobs that were handed out; answers with how many have moved. */
  async #moved(decided: readonly (Segment | undefined)[]): Promise<number> {
    const { store, clock } = this.#parts
    const segments = decided.filter((segment) => segment !== undefined)
    const changes: Change[] = []
    for (const segment of segments)
      changes.push(changeOf(segment, segment.successor && (await successorOf(this.#parts, segment))))
    if (changes.length === 0) return 0
    const committedMs = clock.asked()
    const answer = await store.commit(changes)
    clock.heard(answer.now, committedMs)
    const applied = segments.filter((_, i) => answer.verdicts[i]?.status === 'applied')
    for (const segment of applied) this.#applied(segment)
    return applied.length
  }

  /**
   * A process that has just begun cannot tell a lease that has ended from a clock that was set: jobs that are owned wait until those
   * who were there before would have told. A job is handed out once in a while, so they are kept here until then.
   */
  async #judgeable(due: readonly Job[]): Promise<readonly Job[]> {
    const { clock, steps } = this.#parts
    const jobs = this.#spared.length === 0 ? due : [...this.#spared, ...due]
    const isStranger = clock.watchedMs < NOTICED_WITHIN_MS
    this.#spared = isStranger ? jobs.filter(isOwed).slice(0, SPARED_MAX) : []
    if (isStranger) return jobs.filter((job) => !isOwed(job))
    if (jobs.some(isOwed)) await steps.ask()
    return jobs
  }

  /**
   * Nobody is told that a lease has ended before others were asked whether the clock was set; nor, by somebody who has just
   * come, before those others would have noticed. A word that waits for that harms nobody: its lease is as good as over.
   */
  async #sparing(open: readonly Group[]): Promise<void> {
    const { clock, steps, timers } = this.#parts
    const isOver = () => open.some((group) => group.isOver(clock.now(), steps.known))
    if (!isOver()) return
    await steps.ask()
    const strangeMs = NOTICED_WITHIN_MS - clock.watchedMs
    if (strangeMs <= 0 || !isOver()) return
    await timers.sleep(strangeMs)
    await steps.ask()
  }

  async #load(open: readonly Group[]): Promise<void> {
    const wanting = open.filter(({ need }) => need !== 'nothing')
    if (wanting.length === 0) return
    const { store, clock } = this.#parts
    const wanted = wanting.map((group) => group.wanted())
    const askedMs = clock.asked()
    const answer = await store.load(wanted.flat())
    clock.heard(answer.now, askedMs)
    let from = 0
    for (const [i, group] of wanting.entries()) {
      const to = from + (wanted[i] as (typeof wanted)[number]).length
      group.loaded(answer.items.slice(from, to))
      from = to
    }
  }

  /** A job that core cannot judge is a defect of ours: its words are refused, and those about other jobs go their way. */
  #segmentOf(group: Group, now: Time, answers: Answer[]): Segment | undefined {
    try {
      return group.segment(now, this.#parts.steps.known, this.#parts.flowKeys, answers)
    } catch (error) {
      const rule = reasonOf(error)
      this.#parts.log.error('a job could not be judged', { job_id: group.id, reason: rule })
      const violations = [{ field: 'job', rule }]
      group.refuseAll(
        ({ command }) => refuse('INVALID', { command: command.type, jobId: group.id, violations, message: rule }),
        answers,
      )
      return undefined
    }
  }

  async #commit(
    ready: readonly Ready[],
    tx: Transaction | undefined,
    notes: readonly Change[],
    answers: Answer[],
  ): Promise<void> {
    const { store, clock, hearsay } = this.#parts
    const changes: Change[] = []
    const hearings = await this.#hear(ready)
    for (let i = 0; i < ready.length; i += 1) {
      const { segment } = ready[i] as Ready
      const spawn = segment.successor && (await successorOf(this.#parts, segment))
      changes.push(changeOf(segment, spawn, hearings[i]?.move))
    }
    for (const note of notes) changes.push(note)
    if (changes.length === 0) return
    await hearsay.announce(ready.filter(({ group, segment }) => isHeardLater(group, segment)))
    const askedMs = clock.asked()
    const answer = await store.commit(changes, tx)
    clock.heard(answer.now, askedMs)
    for (let i = 0; i < ready.length; i += 1) {
      const verdict = answer.verdicts[i] as Verdict
      const each = ready[i] as Ready
      this.#judge(each, verdict, answers)
      this.#heard(each.segment, hearings[i], verdict)
    }
  }

  /** What flow keys hear by these segments. Most hear nothing. */
  async #hear(ready: readonly Ready[]): Promise<readonly (Hearing | undefined)[]> {
    if (!ready.some(({ segment }) => segment.heard !== undefined)) return SILENCE
    const said = ready.map(({ group, segment }) => {
      const heard = isHeardLater(group, segment) ? undefined : segment.heard
      return { job: segment.before, heard, isAgain: group.conflicts > 0 }
    })
    return this.#parts.flowKeys.hear(said, this.#parts.clock.now())
  }

  #heard({ before, heard }: Segment, hearing: Hearing | undefined, { status }: Verdict): void {
    if (heard === undefined) return
    const { flowKeys, hearsay } = this.#parts
    if (hearing === undefined) {
      if (status === 'applied') hearsay.note(before.spec.kind.tenant, heard)
    } else if (status === 'applied') flowKeys.applied(hearing)
    else flowKeys.forget(hearing.tenant, hearing.key)
  }

  #judge({ group, segment }: Ready, verdict: Verdict, answers: Answer[]): void {
    const { before } = segment
    switch (verdict.status) {
      case 'applied':
        group.applied(segment)
        this.#applied(segment)
        return
      case 'conflict':
      case 'late':
        // Late: the record is read again, and core says what the store's clock has made of its lease.
        this.#parts.observer.conflicted()
        this.#parts.held.drop(before.id)
        group.again()
        return
      case 'taken': {
        const { holder } = verdict
        const message = `Job ${holder} holds the key ${before.spec.dedupeKey ?? ''} now.`
        group.refuse(
          ({ command }) => refuse('KEY_TAKEN', { command: command.type, job: before, holder, message }),
          answers,
        )
        return
      }
      case 'rejected': {
        const violations = [{ field: verdict.field, rule: verdict.rule }]
        group.refuse(({ command }) => refuse('INVALID', { command: command.type, job: before, violations }), answers)
      }
    }
  }

  #applied({ events, before, after, notAfter, tx }: Segment): void {
    const { held, observer, family } = this.#parts
    // The caller's transaction may still be rolled back: its record is not held.
    if (tx !== undefined) held.drop(after.id)
    else if (notAfter !== undefined) held.keep(after)
    else held.refresh(after)
    observer.committed(events, before, after)
    if (after.recast?.keys !== undefined) this.#declared(events, after)
    if (after.wait !== undefined) family.waits(after)
    else if (before.endedAt === undefined && after.endedAt !== undefined && after.spec.parentId !== undefined)
      family.ended(after, tx !== undefined)
  }

  /** Numbers of rules reach keys that are there already. */
  #declared(events: readonly Event[], after: Job): void {
    for (const event of events) {
      if (event.type !== 'admitted') continue
      for (const throttle of event.payload.recast?.throttles ?? [])
        this.#parts.declarations.noteRule(after, throttle, event)
    }
  }
}

const SILENCE: readonly Hearing[] = []

/** Jobs kept here at most; others are handed out again by `due`. */
const SPARED_MAX = 10_000

interface Ready {
  readonly group: Group
  readonly segment: Segment
}

/** Not what is said in a caller's transaction: that may still be rolled back. */
const isHeardLater = ({ conflicts }: Group, { tx }: Segment): boolean => conflicts >= MET_AT_KEY && tx === undefined

/** The segment of a tick; undefined where core finds nothing due. */
function ticked(job: Job, now: Time, steps: readonly Step[]): Segment | undefined {
  return segmentOf(
    job,
    decideTick(job, now, { actor: bondOf(job.spec.kind.policy).tickedBy, requestId: `tick/${job.rev}` }, steps),
  )
}

function annotations(open: readonly Group[]): readonly Change[] {
  const notes: Change[] = []
  for (const group of open) {
    if (group.annotations.length === 0) continue
    for (const annotation of group.annotations) notes.push({ kind: 'annotate', annotation })
    group.annotations = []
  }
  return notes
}

/** Segments by the caller's transaction. Those without one come first, also if there are none: notes are written with them. */
function byTransaction(ready: readonly Ready[]): Iterable<readonly [Transaction | undefined, readonly Ready[]]> {
  if (ready.every(({ segment }) => segment.tx === undefined)) return [[undefined, ready]]
  const found = new Map<Transaction | undefined, Ready[]>([[undefined, []]])
  for (const each of ready) {
    const together = found.get(each.segment.tx)
    if (together === undefined) found.set(each.segment.tx, [each])
    else together.push(each)
  }
  return found
}
