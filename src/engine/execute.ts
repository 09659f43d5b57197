/**
 * The only place where core and store meet: load, decide, commit, and again where somebody was faster. A word about a
 * job that a worker of this process owns is judged on the record held here and needs no load; the commit compares
 * revisions, so a stale guess costs a round trip and never a mistake.
 */
import { assert } from '../core/assert.ts'
import { decide, decideTick } from '../core/decide.ts'
import { idText } from '../core/id.ts'
import type { Job, Time } from '../core/job.ts'
import { keyChange } from '../core/keys.ts'
import { reasonOf } from '../core/reason.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Change, Key, NewJob, Store, Transaction, Verdict } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Answer, Word } from './engine.ts'
import { Group } from './group.ts'
import type { Holdings } from './holdings.ts'
import type { IdBlocks } from './id-blocks.ts'
import type { Observer } from './observer.ts'
import type { Segment } from './segment.ts'
import type { StoreClock } from './store-clock.ts'

/** A job that was changed by others this often between a read and a write is contended, not unlucky. */
export const TRIES = 5

export interface ExecutorParts {
  readonly store: Store
  readonly clock: StoreClock
  readonly held: Holdings
  readonly ids: IdBlocks
  readonly observer: Observer
  /** For what should never happen. */
  readonly log: Log
  /** Told of every child that ended. */
  readonly childEnded: (job: Job) => void
}

export class Executor {
  readonly #parts: ExecutorParts

  constructor(parts: ExecutorParts) {
    this.#parts = parts
  }

  async settle(words: readonly Word[]): Promise<readonly Answer[]> {
    const answers: Answer[] = new Array(words.length)
    let open = this.#grouped(words)
    try {
      while (open.length > 0) {
        await this.#load(open)
        const drafted: Drafted[] = []
        const now = this.#parts.clock.now()
        for (const group of open) {
          const segment = group.need === 'nothing' ? this.#draft(group, now, answers) : undefined
          if (segment !== undefined) drafted.push({ group, segment })
        }
        await this.#commit(drafted, open, answers)
        open = open.filter((group) => !group.done)
      }
    } catch (error) {
      // Whether the store has it is unknown: the next word about these jobs reads the record first.
      for (const { id } of open) this.#parts.held.drop(id)
      throw error
    }
    return answers
  }

  /** What has come due, judged and committed. A job that moved meanwhile is handed out again. */
  async tick(limit: number): Promise<{ readonly due: number; readonly moved: number }> {
    const { store, clock } = this.#parts
    const { now, jobs } = await store.due(limit)
    clock.heard(now)
    const segments: Segment[] = []
    for (const job of jobs) {
      const decision = decideTick(job, now, { actor: TICKER, requestId: `tick/${job.rev}` })
      if (decision?.kind !== 'accepted') continue
      const { events, bodies, successor } = decision
      segments.push({ before: job, after: decision.job, events, bodies, notAfter: undefined, successor, tx: undefined })
    }
    if (segments.length === 0) return { due: jobs.length, moved: 0 }
    const answer = await store.commit(await this.#changes(segments))
    clock.heard(answer.now)
    const applied = segments.filter((_, i) => answer.verdicts[i]?.status === 'applied')
    for (const segment of applied) this.#applied(segment)
    return { due: jobs.length, moved: applied.length }
  }

  #grouped(words: readonly Word[]): readonly Group[] {
    const groups = new Map<string, Group>()
    for (let i = 0; i < words.length; i += 1) {
      const word = words[i] as Word
      const { id, tenant } = word
      const name = tenant === undefined ? id : `${id}\n${tenant}`
      const group = groups.get(name)
      if (group === undefined) groups.set(name, new Group(word, i, this.#parts.held.get(id, tenant)))
      else group.add(word, i)
    }
    return [...groups.values()]
  }

  /** A job that core cannot judge is a defect of ours: its words are refused, and those about other jobs go their way. */
  #draft(group: Group, now: Time, answers: Answer[]): Segment | undefined {
    try {
      return group.segment(now, answers)
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

  async #load(open: readonly Group[]): Promise<void> {
    const wanting = open.filter(({ need }) => need !== 'nothing')
    if (wanting.length === 0) return
    const { store, clock } = this.#parts
    const wanted = wanting.map((group) => group.wanted())
    const answer = await store.load(wanted.flat())
    clock.heard(answer.now)
    let from = 0
    for (const [i, group] of wanting.entries()) {
      const to = from + (wanted[i] as (typeof wanted)[number]).length
      group.loaded(answer.items.slice(from, to))
      from = to
    }
  }

  async #commit(drafted: readonly Drafted[], open: readonly Group[], answers: Answer[]): Promise<void> {
    const notes = annotations(open)
    if (drafted.length === 0 && notes.length === 0) return
    const { store, clock } = this.#parts
    for (const [tx, together] of byTransaction(drafted)) {
      const changes = await this.#changes(together.map(({ segment }) => segment))
      if (tx === undefined) changes.push(...notes)
      if (changes.length === 0) continue
      const answer = await store.commit(changes, tx)
      clock.heard(answer.now)
      for (let i = 0; i < together.length; i += 1) {
        this.#judge(together[i] as Drafted, answer.verdicts[i] as Verdict, answers)
      }
    }
  }

  async #changes(segments: readonly Segment[]): Promise<Change[]> {
    const changes: Change[] = new Array(segments.length)
    for (let i = 0; i < segments.length; i += 1) {
      const segment = segments[i] as Segment
      const { before, after, events, bodies, notAfter, successor } = segment
      const { give, take } = keyChange(before, after)
      const spawn = successor === undefined ? undefined : await this.#successor(segment, give)
      changes[i] = { kind: 'move', before, after, events, bodies, notAfter, give, take, spawn }
    }
    return changes
  }

  /** A retry that is a new job has the input of the old one, and the key that the old one gives up in the same commit. */
  async #successor({ before, successor }: Segment, keys: readonly Key[]): Promise<NewJob> {
    assert(successor !== undefined, 'there is a successor')
    const { store, ids, clock } = this.#parts
    const id = idText(await ids.take(before.spec.kind.tenant, 1))
    const wanted = successor.input === undefined ? [] : [successor.input.name]
    const { items, now } = await store.load([{ id: before.id, bodies: wanted }])
    clock.heard(now)
    const decision = decide(undefined, { ...successor, id }, now)
    assert(decision.kind === 'accepted', 'a successor is enqueued as its predecessor was')
    const [event] = decision.events
    assert(event !== undefined, 'an enqueue is an event')
    return { job: decision.job, event, input: items[0]?.bodies['input'], keys }
  }

  #judge({ group, segment }: Drafted, verdict: Verdict, answers: Answer[]): void {
    const { before } = segment
    switch (verdict.status) {
      case 'applied':
        group.applied(segment.after)
        this.#applied(segment)
        return
      case 'conflict':
      case 'late':
        // Late: the record is read again, and core says what the store's clock has made of its lease.
        this.#parts.observer.conflicted()
        this.#parts.held.drop(before.id)
        group.conflicts += 1
        if (group.conflicts < TRIES) group.again()
        else group.refuse((word) => contended(word, segment), answers)
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
    const { held, observer, childEnded } = this.#parts
    // What a transaction that is still open says may yet be unsaid.
    if (tx !== undefined) held.drop(after.id)
    else if (notAfter !== undefined) held.keep(after)
    else held.refresh(after)
    observer.committed(events, before, after)
    if (after.endedAt !== undefined && after.spec.parentId !== undefined) childEnded(after)
  }
}

interface Drafted {
  readonly group: Group
  readonly segment: Segment
}

const TICKER = 'system:ticker'

function annotations(open: readonly Group[]): readonly Change[] {
  const notes: Change[] = []
  for (const group of open) {
    if (group.annotations.length === 0) continue
    for (const annotation of group.annotations) notes.push({ kind: 'annotate', annotation })
    group.annotations = []
  }
  return notes
}

/** What has no transaction comes first, even if there is nothing of it: notes are written there. */
function byTransaction(drafted: readonly Drafted[]): Iterable<readonly [Transaction | undefined, readonly Drafted[]]> {
  if (drafted.every(({ segment }) => segment.tx === undefined)) return [[undefined, drafted]]
  const found = new Map<Transaction | undefined, Drafted[]>([[undefined, []]])
  for (const each of drafted) {
    const together = found.get(each.segment.tx)
    if (together === undefined) found.set(each.segment.tx, [each])
    else together.push(each)
  }
  return found
}

function contended({ command }: Word, { before }: Segment): Refusal {
  const message = `Job ${before.id} was changed by others ${TRIES} times between reading and writing it.`
  return refuse('REV_CONFLICT', { command: command.type, job: before, message, retryAfterMs: 100 })
}
