/**
 * The reference: what the port says, in plain data structures, with core doing the judging. It lives and dies with
 * the process. Each call does all of its work before it returns, so calls never interleave and every one of them is
 * a transaction.
 */
import { assert } from '../../core/assert.ts'
import type { Time } from '../../core/job.ts'
import type { Clock } from '../../system/clock.ts'
import { SteadyClock } from '../../system/steady-clock.ts'
import { realTimers, type Timers } from '../../system/timers.ts'
import type { Agenda } from '../agenda.ts'
import type {
  Beat,
  BeatAnswer,
  Change,
  ClaimAnswer,
  CommitAnswer,
  DueAnswer,
  EventPage,
  EventQuery,
  Grant,
  Hint,
  InsertAnswer,
  JobPage,
  JobQuery,
  LoadAnswer,
  LoadItem,
  NewJob,
  SettingAnswer,
  SettingOperation,
  Store,
  Transaction,
  Verdict,
} from '../store.ts'
import { ClaimDesk } from '../waiting/claim-desk.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { due } from './due.ts'
import { events } from './events.ts'
import { find } from './find.ts'
import { heartbeat } from './heartbeat.ts'
import { Hints } from './hints.ts'
import { insert, meetings } from './insert.ts'
import { load } from './load.ts'
import { setting } from './settings.ts'
import { Shelves } from './shelves.ts'

export interface MemoryOptions {
  /** Any clock will do, a virtual one too: the store reads it once per call. */
  readonly clock: Clock
  /** What claims wait by; of the same time as the clock, where that is a virtual one. */
  readonly timers?: Timers | undefined
}

export function openMemoryStore({ clock, timers = realTimers }: MemoryOptions): Store {
  return new MemoryStore(clock, timers)
}

class MemoryStore implements Store {
  readonly #clock: SteadyClock
  readonly #hints = new Hints()
  readonly #desk: ClaimDesk
  /** Present exactly until closed. */
  #shelves: Shelves | undefined = new Shelves()

  constructor(clock: Clock, timers: Timers) {
    this.#clock = new SteadyClock(clock)
    this.#desk = new ClaimDesk({
      clock,
      timers,
      look: async (grant, lanes) => this.#claim({ ...grant, lanes }),
      subscribe: (wake) => this.subscribe(wake),
    })
  }

  async insert(items: readonly NewJob[], tx?: Transaction, together = false): Promise<InsertAnswer> {
    const { shelves, now } = this.#enter(tx)
    const lone = together ? meetings(shelves, items, now) : undefined
    if (lone !== undefined) return { now, items: lone }
    const answers = items.map((item) => insert(shelves, item, now))
    for (const [i, { job }] of items.entries()) if (answers[i]?.status === 'inserted') this.#hints.about(job)
    this.#letIn(shelves)
    return { now, items: answers }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const { shelves, now } = this.#enter()
    return { now, items: items.map((item) => load(shelves, item)) }
  }

  async claim(grant: Grant): Promise<ClaimAnswer> {
    return (grant.waitMs ?? 0) > 0 ? this.#desk.claim(grant) : this.#claim(grant)
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    const { shelves, now } = this.#enter(tx)
    const verdicts = changes.map((change) => commit(shelves, change, now))
    if (changes.some(({ kind }) => kind === 'purge')) shelves.trimFeed()
    for (const [i, change] of changes.entries()) this.#tell(change, verdicts[i] as Verdict)
    this.#letIn(shelves)
    return { now, verdicts }
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    const { shelves, now } = this.#enter()
    return { now, items: beats.map((beat) => heartbeat(shelves, beat, now)) }
  }

  async due(limit: number, agenda: Agenda = 'ticks'): Promise<DueAnswer> {
    const { shelves, now } = this.#enter()
    if (agenda === 'judgements') return { now, jobs: due(shelves, limit, now, agenda) }
    for (const job of shelves.hall.due()) this.#hints.aboutWork(job)
    const jobs = due(shelves, limit, now, agenda)
    return { now, jobs, more: shelves.hall.more || undefined, setBackMs: this.#clock.takeSetBackMs() }
  }

  async find(query: JobQuery): Promise<JobPage> {
    const { shelves, now } = this.#enter()
    return find(shelves, query, now)
  }

  async events(query: EventQuery): Promise<EventPage> {
    const { shelves, now } = this.#enter()
    return events(shelves, query, now)
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const { shelves, now } = this.#enter()
    const answers = operations.map((operation) => setting(shelves, operation, now))
    for (const operation of operations) {
      if (operation.collection !== 'queue' || operation.op === 'get' || operation.op === 'list') continue
      shelves.hall.paused(operation.key)
      this.#hints.tell({ about: 'anything' })
    }
    this.#letIn(shelves)
    return answers
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    this.#enter()
    return this.#hints.subscribe(wake)
  }

  async close(): Promise<void> {
    await this.#desk.close()
    this.#hints.close()
    this.#shelves = undefined
  }

  #claim(grant: Grant): ClaimAnswer {
    const { shelves, now } = this.#enter()
    const answer = claim(shelves, grant, now)
    for (const { before } of answer.replayed ? [] : answer.jobs) this.#hints.aboutJob(before)
    this.#letIn(shelves)
    return answer
  }

  #enter(tx?: Transaction): { readonly shelves: Shelves; readonly now: Time } {
    assert(this.#shelves !== undefined, 'the store has been closed')
    if (tx !== undefined) throw new Error(NO_TRANSACTION)
    const now = this.#clock.now()
    this.#shelves.hall.now = now
    return { shelves: this.#shelves, now }
  }

  /** The end of a call that may have freed something, or brought somebody. */
  #letIn({ hall }: Shelves): void {
    for (const job of hall.look()) this.#hints.aboutWork(job)
  }

  #tell(change: Change, { status }: Verdict): void {
    if (status !== 'applied' || change.kind !== 'move') return
    this.#hints.about(change.after)
    if (change.spawn !== undefined) this.#hints.about(change.spawn.job)
  }
}

const NO_TRANSACTION =
  'pawl: a store in memory cannot take part in a transaction of yours: it has none. Use a Postgres store for that.'
