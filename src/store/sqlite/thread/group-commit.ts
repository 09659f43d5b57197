/**
 * The writing thread's one loop. Calls that arrive while a commit is under way wait together and ride in the next one: one
 * lock, one sync, a verdict each. An idle store adds no delay: the first call is served at once.
 *
 * Modes: idle (nothing waits); serving (inside `#serve`, which runs to its end); held off (another process has the
 * file's write lock, or its turn: writes wait for a timer, what is looked up by its key is answered); closing (no call
 * comes any more; those that wait have a little time left). What has not been answered is in `#beats`, `#waiting` or `#held`.
 */
import type { Timers } from '../../../system/timers.ts'
import { lettersOfChange, lettersOfInsert } from '../burden.ts'
import type { Answer, Answered, Asked, Call, Op } from '../protocol.ts'
import { type ChangeRow, endsIn } from '../rows.ts'
import { failed, tooLong } from './answers.ts'
import { claim, claimable } from './claim.ts'
import { commit } from './commit.ts'
import { anythingDue, due, notDue, retick } from './due.ts'
import { heartbeat } from './heartbeat.ts'
import { insert } from './insert.ts'
import type { Ledger } from './ledger.ts'
import { load } from './read.ts'
import { isBusy } from './result-codes.ts'
import { isSettingWrite, readSettings, settings } from './settings.ts'

type Work = { readonly [O in Op]?: (ledger: Ledger, asked: Asked<O>) => Answered<O> }

const WRITES: Work = { insert, claim, commit, heartbeat, due, retick, settings }

/** Looked up by key: quickly done, between two commits. */
const READS: Work = {
  load: (ledger, asked) => load(ledger.reading, asked, ledger.burden),
  settings: readSettings,
  // A claim of lanes that are empty is answered without a lock.
  claim: () => ({ replayed: false, runs: [], jobs: [], keys: [] }),
  due: notDue,
}

/** Jobs that ride in one commit at most, give or take a call: the first of them must not wait for ever. */
const MAX_RIDERS = 4_000
/** Pauses before the file is tried again: another process that writes holds the lock for milliseconds. */
const BACKOFF_MS = [1, 1, 2, 2, 3, 4] as const

/** How long calls are tried that find the file locked while the store is being closed. */
const PATIENCE_MS = 4_000

const TURN_MS = 15
const GAP_MS = 2
const COMPANY_MS = 1_000

export interface GroupCommitOptions {
  readonly path: string
  readonly busyMs: number
  readonly timers: Timers
  readonly monotonicMs: () => number
  /** Called before each commit: what else has arrived rides along. */
  readonly gather: () => readonly Call[]
  readonly report: (answers: readonly Answer[]) => void
}

interface Waiting {
  readonly call: Call
  readonly sinceMs: number
}

export class GroupCommit {
  readonly #ledger: Ledger
  readonly #options: GroupCommitOptions
  /** Calls that no commit has taken up yet. */
  #waiting: Waiting[] = []
  /** Heartbeats likewise, which go before all others: however many wait, a lease waits for one turn and no more. */
  #beats: Waiting[] = []
  /** Found the file locked. */
  #held: Waiting[] = []
  #heldOff: Disposable | undefined
  #tries = 0
  #lastWriteMs = 0
  #writingSinceMs = 0
  #serving = false
  /** Present once it is being closed. */
  #closing: { readonly done: () => void; readonly patienceUntilMs: number } | undefined

  constructor(ledger: Ledger, options: GroupCommitOptions) {
    this.#ledger = ledger
    this.#options = options
  }

  take(calls: readonly Call[]): void {
    this.#enlist(calls)
    // While held off, only reads are served: writes wait for their timer.
    this.#serve()
  }

  /** Calls `done` once every call that waits has been answered. */
  close(done: () => void): void {
    this.#closing = { done, patienceUntilMs: this.#options.monotonicMs() + PATIENCE_MS }
    this.#endIfDone()
  }

  /** Drops all calls that wait: the process exits and hears no answers. */
  drop(): void {
    this.#waiting = []
    this.#beats = []
    this.#held = []
    this.#heldOff?.[Symbol.dispose]()
  }

  #endIfDone(): void {
    if (this.#closing === undefined || this.#serving) return
    if (this.#beats.length + this.#waiting.length + this.#held.length > 0) return
    this.#heldOff?.[Symbol.dispose]()
    this.#closing.done()
  }

  #enlist(calls: readonly Call[]): void {
    const sinceMs = this.#options.monotonicMs()
    for (const call of calls) (call.op === 'heartbeat' ? this.#beats : this.#waiting).push({ call, sinceMs })
  }

  #serve(): void {
    this.#serving = true
    while (this.#beats.length + this.#waiting.length > 0 || (this.#heldOff === undefined && this.#held.length > 0)) {
      if (this.#heldOff === undefined) this.#waiting.unshift(...this.#held.splice(0))
      const answers: Answer[] = []
      const writes: Waiting[] = []
      const left: Waiting[] = []
      const { burden } = this.#ledger
      burden.putDown()
      for (const waiting of this.#nextRiders()) {
        if (burden.isFull) left.push(waiting)
        else if (this.#mustWrite(waiting.call)) writes.push(waiting)
        else this.#read(waiting, answers)
      }
      if (writes.length > 0) left.unshift(...this.#write(writes, answers))
      this.#waiting.unshift(...left)
      if (answers.length > 0) this.#options.report(answers)
      this.#enlist(this.#options.gather())
    }
    this.#serving = false
    this.#endIfDone()
  }

  #nextRiders(): readonly Waiting[] {
    const riders = this.#beats.splice(0)
    let jobs = riders.reduce((sum, { call }) => sum + weight(call), 0)
    let calls = 0
    for (; calls < this.#waiting.length && (jobs < MAX_RIDERS || calls === 0); calls += 1) {
      jobs += weight((this.#waiting[calls] as Waiting).call)
    }
    riders.push(...this.#waiting.splice(0, calls))
    return riders
  }

  /** A question that turns out to have nothing to take needs no lock. */
  #mustWrite({ op, asked }: Call): boolean {
    try {
      if (op === 'claim') return claimable(this.#ledger, asked as Asked<'claim'>)
      if (op === 'due') return anythingDue(this.#ledger, asked as Asked<'due'>)
      if (op === 'settings') return isSettingWrite(asked as Asked<'settings'>)
    } catch {
      // Whatever it was, it will show again where it is answered for.
      return true
    }
    return WRITES[op] !== undefined
  }

  /** The first of them, and as many as the turn can bear; answers with the others. */
  #write(batch: readonly Waiting[], answers: Answer[]): readonly Waiting[] {
    if (this.#heldOff !== undefined) {
      this.#held.push(...batch)
      return []
    }
    const ledger = this.#ledger
    const made: Answer[] = []
    let taken = 0
    try {
      ledger.begin()
      while (taken < batch.length && (taken === 0 || !ledger.burden.isFull)) {
        const joinable = joinableInserts(batch, taken)
        const { call } = batch[taken] as Waiting
        taken += Math.max(1, joinable.length)
        if (joinable.length > 1) made.push(...this.#rideTogether(joinable))
        else made.push(this.#ride(call, batch.length > 1))
      }
      ledger.commit()
      this.#tries = 0
      answers.push(...made)
      this.#letOthersIn()
    } catch (error) {
      ledger.rollback()
      for (const waiting of batch.slice(0, Math.max(1, taken))) this.#failedOrHeld(waiting, error, answers)
    }
    return batch.slice(Math.max(1, taken))
  }

  #read(waiting: Waiting, answers: Answer[]): void {
    try {
      this.#ledger.now = this.#ledger.clock.now()
      answers.push(this.#run(READS, waiting.call))
    } catch (error) {
      this.#failedOrHeld(waiting, error, answers)
    }
  }

  /** A busy file is no failure, until a call has waited too long for it. */
  #failedOrHeld(waiting: Waiting, error: unknown, answers: Answer[]): void {
    const now = this.#ledger.clock.now()
    const { monotonicMs, busyMs, path } = this.#options
    const patienceMs = Math.min(busyMs, (this.#closing?.patienceUntilMs ?? Number.POSITIVE_INFINITY) - waiting.sinceMs)
    if (!isBusy(error)) answers.push(failed(waiting.call, now, error, path))
    else if (monotonicMs() - waiting.sinceMs > patienceMs) {
      answers.push(tooLong(waiting.call, now, Math.round(monotonicMs() - waiting.sinceMs)))
    } else {
      this.#held.push(waiting)
      this.#holdOff()
    }
  }

  /** Inserts the jobs of several calls as those of one: a savepoint for each was half the price of 64 single inserts in flight. */
  #rideTogether(calls: readonly JoinableInsert[]): readonly Answer[] {
    const ledger = this.#ledger
    for (const call of calls) ledger.burden.take(lettersBy(call))
    try {
      const answered = insert(ledger, { kinds: [], rows: calls.flatMap(({ asked }) => asked.rows), together: false })
      let from = 0
      return calls.map(({ n, asked }) => {
        const own = answered.slice(from, from + asked.rows.length)
        from += asked.rows.length
        return { n, now: ledger.now, ok: true, answered: own }
      })
    } catch (error) {
      // One of the calls is to blame: each is tried by itself, so that it fails alone.
      if (!ledger.db.isTransaction) throw error
      return calls.map((call) => this.#ride(call, true))
    }
  }

  /** One call of a commit, in a savepoint where others ride along: an error fails that call alone. */
  #ride(call: Call, inCompany: boolean): Answer {
    const ledger = this.#ledger
    ledger.burden.take(lettersBy(call))
    if (!inCompany) return this.#run(WRITES, call)
    try {
      return ledger.atomically(() => this.#run(WRITES, call))
    } catch (error) {
      // An error that cost the whole transaction is everybody's.
      if (!ledger.db.isTransaction) throw error
      return failed(call, ledger.now, error, this.#options.path)
    }
  }

  #run(work: Work, { n, op, asked }: Call): Answer {
    const run = work[op] as ((ledger: Ledger, asked: unknown) => Answered<Op>) | undefined
    if (run === undefined) throw new Error(`pawl: the store's thread knows no ${op}`)
    const answered = run(this.#ledger, asked)
    return { n, now: this.#ledger.now, ok: true, answered }
  }

  /** The lock has no queue: who writes on and on, and is not alone, steps aside now and then. */
  #letOthersIn(): void {
    const nowMs = this.#options.monotonicMs()
    if (nowMs - this.#lastWriteMs > GAP_MS) this.#writingSinceMs = nowMs
    this.#lastWriteMs = nowMs
    const alone = this.#ledger.now - this.#ledger.othersAt > COMPANY_MS
    if (alone || nowMs - this.#writingSinceMs < TURN_MS) return
    this.#writingSinceMs = nowMs
    this.#pause(GAP_MS)
  }

  #holdOff(): void {
    if (this.#heldOff !== undefined) return
    const ms = BACKOFF_MS[Math.min(this.#tries, BACKOFF_MS.length - 1)] as number
    this.#tries += 1
    this.#pause(ms)
  }

  #pause(ms: number): void {
    this.#heldOff = this.#options.timers.after(ms, () => {
      this.#heldOff = undefined
      this.#serve()
    })
  }
}

type JoinableInsert = Call & { readonly asked: Asked<'insert'> }

/** The calls from here on that bring nothing but jobs of kinds that are known, each by itself. */
function joinableInserts(batch: readonly Waiting[], from: number): readonly JoinableInsert[] {
  const calls: JoinableInsert[] = []
  for (let i = from; i < batch.length; i += 1) {
    const { call } = batch[i] as Waiting
    if (call.op !== 'insert') break
    const { kinds, together } = call.asked as Asked<'insert'>
    if (kinds.length > 0 || together) break
    calls.push(call as JoinableInsert)
  }
  return calls
}

/** Letters that a call brings. */
function lettersBy({ op, asked }: Call): number {
  if (op === 'insert') return (asked as Asked<'insert'>).rows.reduce((sum, row) => sum + lettersOfInsert(row), 0)
  if (op === 'commit') return (asked as Asked<'commit'>).rows.reduce((sum, row) => sum + lettersOfChange(row), 0)
  return 0
}

function weight({ op, asked }: Call): number {
  if (op === 'insert') return (asked as Asked<'insert'>).rows.length + 1
  if (op === 'commit') return (asked as Asked<'commit'>).rows.reduce((sum, row) => sum + jobsIn(row), 1)
  return Array.isArray(asked) ? asked.length + 1 : 1
}

const jobsIn = (row: ChangeRow): number => (row[0] === 'ends' ? endsIn(row).count : 1)
