/**
 * The open file, and what one transaction gathers besides its rows: the events it adds to the feed and how the counts
 * change. Both are written once, at the end, whatever the number of calls that ride in the commit.
 *
 * Modes: idle; in a transaction (between `begin` and `commit` or `rollback`). What is gathered is empty while idle.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../../../core/assert.ts'
import type { Time } from '../../../core/job.ts'
import type { JobRow, KindRef, KindRow, LeaseRow } from '../protocol.ts'
import { isUnkeepable } from './result-codes.ts'
import { prepare, prepareAll, type Statements } from './statements.ts'
import type { StoreClock } from './store-clock.ts'

export type Cell = string | number | null
export type Row = readonly Cell[]

interface KnownKind {
  readonly queue: number
  readonly text: string
}

interface ClaimWords {
  readonly number: number
  readonly at: Time
  readonly worker: string
  /** Worker, request and actor, as they stand at the end of an `OpeningClaim`. */
  readonly words: string
}

/** More entries than this are not removed at once: a commit stays short. */
const FEED_SWEEP_EVERY = 64

export class Ledger {
  readonly db: DatabaseSync
  readonly sql: Statements
  readonly clock: StoreClock
  /** Of the transaction, or of the last one. */
  now: Time
  /** When a commit of somebody else was last seen. */
  othersAt: Time = 0
  #version: Cell | undefined
  readonly #feedMs: number
  readonly #kinds = new Map<number, KnownKind>()
  readonly #kindByText = new Map<string, number>()
  readonly #queues = new Map<string, number>()
  /** Kinds that came into the world with this transaction, and would go with it. */
  readonly #born: { number: number; text: string; queue: string }[] = []
  readonly #adHoc = new Map<string, StatementSync>()
  /** `rev, type, kind, at, job` of each event of this transaction. */
  readonly #facts: Cell[] = []
  /** `kind, state, ±1` of each change of state. */
  readonly #counts: Cell[] = []
  /** Kinds the main thread has not been told of, and those it has. */
  readonly #toTell = new Set<number>()
  readonly #told = new Set<number>()
  /** Up to this number all kinds have been listed once. */
  #listed = 0
  #claim: ClaimWords | undefined
  #commits = 0

  constructor(db: DatabaseSync, clock: StoreClock, feedMs: number) {
    this.db = db
    this.sql = prepareAll(db)
    this.clock = clock
    this.#feedMs = feedMs
    this.#hearLast()
    this.now = clock.now()
    this.#version = one(this.sql.dataVersion)?.[0]
  }

  /** Throws where another process is writing. */
  begin(): void {
    this.sql.begin.run()
    this.#hearLast()
    this.now = this.clock.now()
    const version = one(this.sql.dataVersion)?.[0]
    if (version !== this.#version) this.othersAt = this.now
    this.#version = version
  }

  commit(): void {
    this.#writeEntry()
    this.#writeCounts()
    if (++this.#commits % FEED_SWEEP_EVERY === 0) this.#sweepFeed()
    this.sql.commit.run()
    this.#forget()
  }

  rollback(): void {
    if (this.db.isTransaction) this.sql.rollback.run()
    // Their numbers may be given to others now.
    for (const { number, text, queue } of this.#born) {
      this.#kinds.delete(number)
      this.#kindByText.delete(text)
      this.#queues.delete(queue)
      this.#toTell.delete(number)
    }
    this.#forget()
  }

  /** Runs `work`, or leaves no trace of it. */
  atomically<Result>(work: () => Result): Result {
    const facts = this.#facts.length
    const counts = this.#counts.length
    this.sql.savepoint.run()
    try {
      const result = work()
      this.sql.release.run()
      return result
    } catch (error) {
      if (this.db.isTransaction) {
        this.sql.undo.run()
        this.sql.release.run()
      }
      this.#facts.length = facts
      this.#counts.length = counts
      throw error
    }
  }

  /** Item by item, all in one go; where one of them cannot be kept, each on its own, so that it alone is rejected. */
  each<Item, Result>(
    items: readonly Item[],
    work: (item: Item, place: number) => Result,
    reject: (rule: string) => Result,
  ): readonly Result[] {
    try {
      return this.atomically(() => items.map(work))
    } catch (error) {
      if (!isUnkeepable(error)) throw error
      return items.map((item, place) => {
        try {
          return this.atomically(() => work(item, place))
        } catch (own) {
          if (!isUnkeepable(own)) throw own
          return reject(own instanceof Error ? own.message : String(own))
        }
      })
    }
  }

  happened(rev: number, type: string, kind: number, at: Time, job: number): void {
    this.#facts.push(rev, type, kind, at, job)
  }

  count(kind: number, state: string, by: 1 | -1): void {
    this.#counts.push(kind, state, by)
  }

  /** Who claimed, and when. Immutable, asked for once per job of a batch, hence remembered. */
  claimWords(claim: number): ClaimWords {
    if (this.#claim?.number === claim) return this.#claim
    const row = one(this.sql.claimWords, claim)
    assert(row !== undefined, 'a lease has its claim')
    const [at, request, worker, actor] = row as readonly [number, string, string, string]
    // An actor who is the worker itself goes without saying.
    const words = JSON.stringify([worker, request, actor === `worker:${worker}` ? null : actor]).slice(1, -1)
    this.#claim = { number: claim, at, worker, words }
    return this.#claim
  }

  /** The statement for a text made up on the spot, kept. */
  adHoc(sql: string): StatementSync {
    const known = this.#adHoc.get(sql) ?? prepare(this.db, sql)
    if (this.#adHoc.size > 200) this.#adHoc.clear()
    this.#adHoc.set(sql, known)
    return known
  }

  whole(id: number): JobRow | undefined {
    const row = one(this.sql.whole, id)
    return row && this.jobRow(row)
  }

  jobRow(row: Row): JobRow {
    this.tell(row[1] as number)
    const [id, kind, at, priority, head, record] = row as JobRow & Row
    const rest: readonly Cell[] = row.slice(6)
    return [id, kind, at, priority, head, record, row[6] === null ? null : (rest as LeaseRow)]
  }

  /** Jobs that retention has removed, ever. */
  purged(): number {
    return one(this.sql.purged)?.[0] as number
  }

  /** The numbers of kinds a call refers to by their place in its list. */
  intern(kinds: readonly KindRow[]): readonly number[] {
    return kinds.map((kind) => this.#internOne(kind))
  }

  kindOf(ref: KindRef, interned: readonly number[]): number {
    const kind = ref > 0 ? ref : interned[-ref - 1]
    assert(kind !== undefined, 'a kind is known, or comes with the call')
    return kind
  }

  /** A lane's number. */
  lane(kind: number, priority: number): number {
    return this.#kind(kind).queue * 10 + priority
  }

  queue(tenant: string, name: string): number | undefined {
    const key = JSON.stringify([tenant, name])
    const known = this.#queues.get(key)
    if (known !== undefined) return known
    const found = one(this.sql.queueByName, tenant, name)?.[0]
    if (typeof found === 'number') this.#queues.set(key, found)
    return typeof found === 'number' ? found : undefined
  }

  tell(kind: number): void {
    if (!this.#told.has(kind)) this.#toTell.add(kind)
  }

  /** All kinds there are: what a filter by tenant, queue or type is judged by. */
  tellAll(): void {
    for (const [number] of all(this.sql.kinds, this.#listed)) {
      this.#listed = number as number
      this.tell(this.#listed)
    }
  }

  /** What the next answer must bring along. */
  untold(): [number: number, text: string][] {
    const kinds: [number, string][] = []
    for (const number of this.#toTell) {
      kinds.push([number, this.#kind(number).text])
      this.#told.add(number)
    }
    this.#toTell.clear()
    return kinds
  }

  #internOne([text, tenant, queueName, leaseMs, careful]: KindRow): number {
    const known = this.#kindByText.get(text) ?? (one(this.sql.kindByText, text)?.[0] as number | undefined)
    if (known !== undefined) {
      this.#kindByText.set(text, known)
      this.tell(known)
      return known
    }
    const queue = this.queue(tenant, queueName) ?? (one(this.sql.insertQueue, tenant, queueName)?.[0] as number)
    const number = one(this.sql.insertKind, queue, leaseMs, careful, text)?.[0] as number
    this.#born.push({ number, text, queue: JSON.stringify([tenant, queueName]) })
    this.#kinds.set(number, { queue, text })
    this.#kindByText.set(text, number)
    this.tell(number)
    return number
  }

  #kind(number: number): KnownKind {
    const known = this.#kinds.get(number)
    if (known !== undefined) return known
    const row = one(this.sql.kind, number)
    assert(row !== undefined, `kind ${number} exists`)
    const found = { queue: row[0] as number, text: row[1] as string }
    this.#kinds.set(number, found)
    return found
  }

  #hearLast(): void {
    const at = one(this.sql.lastEntry)?.[1]
    if (typeof at === 'number') this.clock.atLeast(at)
  }

  /** Groups keep entries small: a batch of claims is one list of ids. Ordered by revision, so a job's events are in order. */
  #writeEntry(): void {
    const facts = this.#facts
    if (facts.length === 0) return
    const groups = new Map<string, Cell[]>()
    for (let i = 0; i < facts.length; i += 5) {
      const key = `${facts[i]} ${facts[i + 1]} ${facts[i + 2]} ${facts[i + 3]}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, facts.slice(i, i + 5))
      else group.push(facts[i + 4] as number)
    }
    const items = [...groups.values()].sort((a, b) => (a[0] as number) - (b[0] as number))
    const position = one(this.sql.insertEntry, this.now, JSON.stringify(items))?.[0] as number
    const marked = new Set<string>()
    for (const [, type, , at] of items) {
      const mark = `${type} ${at}`
      if (marked.has(mark)) continue
      marked.add(mark)
      this.sql.insertMark.run(type as string, at as number, position)
    }
  }

  #writeCounts(): void {
    const sums = new Map<string, [number, string, number]>()
    for (let i = 0; i < this.#counts.length; i += 3) {
      const kind = this.#counts[i] as number
      const state = this.#counts[i + 1] as string
      const by = this.#counts[i + 2] as number
      const sum = sums.get(state + kind)
      if (sum === undefined) sums.set(state + kind, [kind, state, by])
      else sum[2] += by
    }
    for (const sum of sums.values()) if (sum[2] !== 0) this.sql.count.run(...sum)
  }

  /** What is too old leaves from the front, a bounded number at a time; the newest entry always stays. */
  #sweepFeed(): void {
    const before = this.now - this.#feedMs
    const last = one(this.sql.oldEntries, before)?.[0]
    if (typeof last !== 'number' || last === one(this.sql.lastEntry)?.[0]) return
    this.sql.deleteEntries.run(last)
    for (const [type] of all(this.adHoc('SELECT DISTINCT type FROM mark'))) {
      this.sql.deleteMarks.run(type as string, before, last)
    }
  }

  #forget(): void {
    this.#facts.length = 0
    this.#counts.length = 0
    this.#born.length = 0
    this.#claim = undefined
  }
}

/** The first row of a statement that returns lists. */
export function one(statement: StatementSync, ...values: Cell[]): Row | undefined {
  const row: unknown = statement.get(...values)
  return row as Row | undefined
}

export function all(statement: StatementSync, ...values: Cell[]): readonly Row[] {
  const rows: unknown = statement.all(...values)
  return rows as readonly Row[]
}

/** One row at a time, for as long as the caller wants more. */
export function rows(statement: StatementSync, ...values: Cell[]): Iterable<Row> {
  const found: unknown = statement.iterate(...values)
  return found as Iterable<Row>
}
