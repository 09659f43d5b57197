/**
 * The open file and its transactions. Modes: idle; in a transaction (between `begin` and `commit` or `rollback`), where
 * `now` is the store's time and `gathered` grows.
 */
import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../../core/assert.ts'
import type { Time } from '../../../core/job.ts'
import { Burden } from '../burden.ts'
import type { JobRow } from '../job-row.ts'
import { Gathered, sweepFeed } from './gathered.ts'
import { Usher } from './hall/usher.ts'
import { KnownKinds } from './known-kinds.ts'
import type { OpenFile } from './open-file.ts'
import { Reading } from './reading.ts'
import { isUnkeepable } from './result-codes.ts'
import { type Cell, one } from './rows.ts'
import { type Statements, statements } from './statements.ts'
import type { StoreClock } from './store-clock.ts'

interface ClaimStamp {
  readonly number: number
  readonly at: Time
  readonly worker: string
  /** Worker, request and actor, as they stand at the end of an `OpeningClaim`. */
  readonly text: string
}

/** Writes that items have left for later. */
export interface Trailing {
  flush(): void
  /** Called instead of `flush` where they were rolled back. */
  drop(): void
}

const SWEEP_EVERY = 64
const TELL_MS = 500

export class Ledger {
  readonly file: OpenFile
  readonly db: DatabaseSync
  readonly reading: Reading
  readonly sql: Statements
  readonly clock: StoreClock
  readonly kinds: KnownKinds
  readonly usher: Usher
  readonly gathered = new Gathered()
  /** How much this turn has taken on. */
  readonly burden = new Burden()
  /** The store's time, as of the transaction under way or of the last one. */
  now: Time
  /** When a commit of another process was last seen. */
  othersAt: Time = 0
  readonly #feedMs: number
  #version: Cell | undefined
  #claim: ClaimStamp | undefined
  #commits = 0
  #writtenAt: Time = 0

  constructor(file: OpenFile, clock: StoreClock, feedMs: number) {
    this.file = file
    this.db = file.db
    this.reading = new Reading(file)
    this.sql = statements(file)
    this.clock = clock
    this.kinds = new KnownKinds(this.sql, this.reading.kinds)
    this.usher = new Usher(this.sql)
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
    this.usher.letIn(this.now)
    this.gathered.write(this.sql, this.now)
    this.#commits += 1
    if (this.#commits % SWEEP_EVERY === 0) sweepFeed(this.sql, this.now - this.#feedMs)
    this.sql.commit.run()
    this.kinds.keep()
    this.#forget()
  }

  rollback(): void {
    if (this.db.isTransaction) this.sql.rollback.run()
    this.kinds.forgetSince(0)
    this.#forget()
  }

  /** Runs `work`, or leaves no trace of it. */
  atomically<Result>(work: () => Result): Result {
    const savepoint = this.gathered.savepoint()
    const { born } = this.kinds
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
      this.gathered.forgetSince(savepoint)
      this.kinds.forgetSince(born)
      throw error
    }
  }

  /** Item by item, all in one go; where one of them cannot be kept, each on its own, so that it alone is rejected. */
  each<Item, Result>(
    items: readonly Item[],
    work: (item: Item, place: number) => Result,
    reject: (rule: string, item: Item) => Result,
    trailing?: Trailing,
  ): readonly Result[] {
    const together = <Done>(some: () => Done): Done =>
      this.atomically(() => {
        const done = some()
        trailing?.flush()
        return done
      })
    try {
      return together(() => items.map(work))
    } catch (error) {
      trailing?.drop()
      if (!isUnkeepable(error)) throw error
      return items.map((item, place) => {
        try {
          return together(() => work(item, place))
        } catch (own) {
          trailing?.drop()
          if (!isUnkeepable(own)) throw own
          return reject(own instanceof Error ? own.message : String(own), item)
        }
      })
    }
  }

  /** Who claimed, and when. The last one is remembered: it never changes, and is asked for once per job of a batch. */
  claimStamp(claim: number): ClaimStamp {
    if (this.#claim?.number === claim) return this.#claim
    const row = one(this.sql.claimStamp, claim)
    assert(row !== undefined, 'a lease has its claim')
    const [at, request, worker, actor] = row as readonly [number, string, string, string]
    // An actor who is the worker itself goes without saying.
    const text = JSON.stringify([worker, request, actor === `worker:${worker}` ? null : actor]).slice(1, -1)
    this.#claim = { number: claim, at, worker, text }
    return this.#claim
  }

  whole(id: number): JobRow | undefined {
    return this.reading.whole(id)
  }

  /**
   * While the store's time is ahead of the machine's clock, which was set back, a process that opens the file cannot know it: so it is
   * written down about once a second. As long as nobody has touched the clock, nothing is.
   */
  get mustTellTime(): boolean {
    return this.clock.aheadMs > TELL_MS && this.clock.now() - this.#writtenAt > TELL_MS
  }

  tellTime(): void {
    this.sql.tellTime.run(this.now)
    this.#writtenAt = this.now
  }

  /** Time does not run backwards, in whichever process it ran on. */
  #hearLast(): void {
    const [, lastAt] = one(this.sql.lastEntry) ?? []
    const [toldAt] = one(this.sql.toldTime) ?? []
    for (const at of [lastAt, toldAt]) {
      if (typeof at === 'number') this.clock.atLeast(at)
    }
  }

  #forget(): void {
    this.gathered.forgetSince([0, 0])
    this.usher.forget()
    this.#claim = undefined
  }
}
