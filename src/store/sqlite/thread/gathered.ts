import type { Time } from '../../../core/job.ts'
import { EVENT_CODES } from '../../codec/codes.ts'
import { type Cell, one } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * What a transaction adds to the feed and how it changes the counts. Written once, at its end, whatever the number of
 * calls that ride in it; empty between transactions.
 */
export class Gathered {
  /** `rev, type, kind, at, job` of each event. */
  readonly #facts: Cell[] = []
  /** `kind, state, ±1` of each change of state. */
  readonly #counts: Cell[] = []

  happened(rev: number, type: string, kind: number, at: Time, job: number): void {
    this.#facts.push(rev, type, kind, at, job)
  }

  count(kind: number, state: string, by: 1 | -1): void {
    this.#counts.push(kind, state, by)
  }

  /** To come back to. */
  mark(): readonly [facts: number, counts: number] {
    return [this.#facts.length, this.#counts.length]
  }

  forgetSince([facts, counts]: readonly [facts: number, counts: number]): void {
    this.#facts.length = facts
    this.#counts.length = counts
  }

  write(sql: Statements, now: Time): void {
    this.#writeEntry(sql, now)
    this.#writeCounts(sql)
  }

  /** Groups keep entries small: a batch of claims is one list of ids. By revision, so a job's events are in order. */
  #writeEntry(sql: Statements, now: Time): void {
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
    const position = one(sql.insertEntry, now, JSON.stringify(items))?.[0] as number
    const marked = new Set<string>()
    for (const [, type, , at] of items) {
      const mark = `${type} ${at}`
      if (marked.has(mark)) continue
      marked.add(mark)
      sql.insertMark.run(type as string, at as number, position)
    }
  }

  #writeCounts(sql: Statements): void {
    const sums = new Map<string, [number, string, number]>()
    for (let i = 0; i < this.#counts.length; i += 3) {
      const [kind, state, by] = this.#counts.slice(i, i + 3) as [number, string, number]
      const sum = sums.get(state + kind)
      if (sum === undefined) sums.set(state + kind, [kind, state, by])
      else sum[2] += by
    }
    for (const sum of sums.values()) if (sum[2] !== 0) sql.count.run(...sum)
  }
}

/** What is too old leaves from the front, a bounded number at a time; the newest entry always stays. */
export function sweepFeed(sql: Statements, before: Time): void {
  const last = one(sql.oldEntries, before)?.[0]
  if (typeof last !== 'number' || last === one(sql.lastEntry)?.[0]) return
  sql.deleteEntries.run(last)
  for (const type of Object.values(EVENT_CODES)) sql.deleteMarks.run(type, before, last)
}
