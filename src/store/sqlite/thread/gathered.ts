import type { Time } from '../../../core/job.ts'
import { EVENT_CODES } from '../../codec/codes.ts'
import { type Cell, one } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * What a transaction adds to the feed and how it changes the counts. Written once, at its end, whatever the number of
 * calls that ride in it; empty between transactions.
 */
export class Gathered {
  readonly #facts: Fact[] = []
  /** `kind, state, by` of each change of state. */
  readonly #counts: Cell[] = []
  /** The next job may be added to the last fact: no savepoint was taken since. */
  #open = false

  /** `jobs`: one, or several with commas between. */
  happened(rev: number, type: string, kind: number, at: Time, jobs: number | string): void {
    const last = this.#facts.at(-1)
    if (this.#open && last?.rev === rev && last.type === type && last.kind === kind && last.at === at) {
      last.jobs += `,${jobs}`
      return
    }
    this.#facts.push({ rev, type, kind, at, jobs: String(jobs) })
    this.#open = true
  }

  /** The facts of a row, which begin at a place of it and end with it. */
  happenedAll(row: readonly unknown[], from: number, kind: number, jobs: number | string): void {
    for (let i = from; i < row.length; i += 3) {
      this.happened(row[i] as number, row[i + 1] as string, kind, row[i + 2] as Time, jobs)
    }
  }

  count(kind: number, state: string, by: number): void {
    this.#counts.push(kind, state, by)
  }

  /** How much has been gathered, for `forgetSince` to come back to. */
  savepoint(): readonly [facts: number, counts: number] {
    this.#open = false
    return [this.#facts.length, this.#counts.length]
  }

  forgetSince([facts, counts]: readonly [facts: number, counts: number]): void {
    this.#facts.length = facts
    this.#counts.length = counts
    this.#open = false
  }

  write(sql: Statements, now: Time): void {
    this.#writeEntry(sql, now)
    this.#writeCounts(sql)
  }

  /** Groups keep entries small: a batch of claims is one list of ids. By revision, so a job's events are in order. */
  #writeEntry(sql: Statements, now: Time): void {
    if (this.#facts.length === 0) return
    const groups = new Map<string, Fact>()
    for (const fact of this.#facts) {
      const key = `${fact.rev} ${fact.type} ${fact.kind} ${fact.at}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, fact)
      else group.jobs += `,${fact.jobs}`
    }
    const items = [...groups.values()].sort((a, b) => a.rev - b.rev)
    // Letters and numbers: nothing in it needs quoting.
    const texts = items.map(({ rev, type, kind, at, jobs }) => `[${rev},"${type}",${kind},${at},${jobs}]`)
    const position = one(sql.insertEntry, now, `[${texts.join()}]`)?.[0] as number
    const seen = new Set<string>()
    for (const { type, at } of items) {
      const moment = `${type} ${at}`
      if (seen.has(moment)) continue
      seen.add(moment)
      sql.insertMoment.run(type, at, position)
    }
  }

  #writeCounts(sql: Statements): void {
    const sums = new Map<string, { kind: number; state: string; by: number }>()
    for (let i = 0; i < this.#counts.length; i += 3) {
      const kind = this.#counts[i] as number
      const state = this.#counts[i + 1] as string
      const by = this.#counts[i + 2] as number
      const sum = sums.get(state + kind)
      if (sum === undefined) sums.set(state + kind, { kind, state, by })
      else sum.by += by
    }
    for (const { kind, state, by } of sums.values()) if (by !== 0) sql.count.run(kind, state, by)
  }
}

/** An event, or the same one of several jobs. */
interface Fact {
  readonly rev: number
  readonly type: string
  readonly kind: number
  readonly at: Time
  jobs: string
}

/** Deletes entries that are too old, a bounded number at a time; the newest always stays, since positions go on from it. */
export function sweepFeed(sql: Statements, before: Time): void {
  const [last, at] = one(sql.oldEntries, before) ?? []
  if (typeof last !== 'number' || typeof at !== 'number' || last === one(sql.lastEntry)?.[0]) return
  sql.deleteEntries.run(last)
  // No event is later than its commit; should one be, it goes with the next. (What is merely old enough is all that waits to leave.)
  for (const type of Object.values(EVENT_CODES)) sql.deleteMoments.run(type, at, last)
}
