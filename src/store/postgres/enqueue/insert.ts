/**
 * Enqueues, three ways. Keyless jobs ride together in one INSERT (`insert_plain`); so do keyed jobs whose keys are all free
 * (`insert_keyed`). Everything else goes through `enqueue`, which says of each job whether it was inserted or who holds its id or
 * key: keyed jobs of which one has met a holder, jobs in a caller's transaction, and the items of a batch in which one was wrong.
 * A job whose key is held by a transaction that has not ended waits apart and is asked for again (`held.ts`).
 *
 * Invariant: a job is answered `inserted` only once its commit is certain. A try whose answer was lost may have been applied, so
 * the next one takes an id of its own that is there already for its own (`again`).
 */

import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import type { Job } from '../../../core/job.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Inserted, NewJob } from '../../store.ts'
import { Batcher } from '../batch/batcher.ts'
import { brokenUp, mayBreakUp } from '../batch/broken-up.ts'
import { literal, uniform } from '../batch/uniform.ts'
import type { Row } from '../connection/client.ts'
import { type Connection, leastBusy } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { isFlowGone } from '../flow/flows.ts'
import type { Letting } from '../flow/letting.ts'
import type { Kinds } from '../names/kinds.ts'
import type { Hints, Ride } from '../waiting/hints.ts'
import { Held } from './held.ts'
import { insertTogether, insertTogetherIn } from './insert-together.ts'
import {
  INSERTED,
  type InsertVerdict,
  insertedBy,
  isBusy,
  type Meeting,
  meetingsIn,
  type There,
  verdictsIn,
  whileLocked,
} from './insert-verdict.ts'
import { birthShape, columnsOf, type KeyedRow, keyColumnsOf, keyedRow, type NewRow, newRow } from './new-row.ts'
import { readySides } from './ready-sides.ts'

export interface InsertParts {
  /** Two: where much is enqueued at a time, one backend alone would be what all wait for; a third gained nothing. */
  readonly keyless: readonly [Connection, ...Connection[]]
  /** Others than those of `keyless`: a key that somebody holds must keep nobody waiting who wants none. */
  readonly keyed: readonly [Connection, ...Connection[]]
  readonly kinds: Kinds
  readonly letting: Pick<Letting, 'flows' | 'arrived'>
  readonly statements: Statements
  /** Loads the holders that items have met, by number. */
  readonly load: (meetings: readonly Meeting[]) => Promise<ReadonlyMap<number, There>>
  readonly sawClock: (now: number) => void
  readonly hints: Pick<Hints, 'ride' | 'failed' | 'work'>
  readonly timers: Timers
}

/** What a commit did. `areTaken`: a parked claim took every job of this batch, so that nobody else need be notified. */
interface Done {
  readonly verdicts: readonly InsertVerdict[]
  readonly areTaken: boolean
}

export class Inserts {
  readonly #parts: InsertParts
  readonly #keyless: Batcher<NewJob, InsertVerdict>
  readonly #keyed: Batcher<NewJob, InsertVerdict>
  readonly #held: Held

  constructor(parts: InsertParts) {
    this.#parts = parts
    const keyless = (items: readonly NewJob[]) => this.#announced(items, (ride) => this.#insertKeyless(items, ride))
    const keyed = (items: readonly NewJob[]) => this.#announced(items, (ride) => this.#insertKeyed(items, ride))
    this.#keyless = new Batcher({ run: keyless, sizeOf, maxItems: KEYLESS_MAX, atOnce: 2 * parts.keyless.length })
    this.#keyed = new Batcher({ run: keyed, sizeOf, maxItems: KEYED_MAX, atOnce: 2 * parts.keyed.length })
    this.#held = new Held({ ask: (items) => this.#askAgain(items), sizeOf, timers: parts.timers })
  }

  async insert(items: readonly NewJob[]): Promise<readonly Inserted[]> {
    const { kinds } = this.#parts
    if (!items.every(({ job, flow }) => flow === undefined && kinds.knows(job))) await this.#intern(items)
    const verdicts = await this.#verdictsOn(items)
    await this.#letIn(items, (i) => verdicts[i] === undefined)
    return this.#answers(items, verdicts)
  }

  /** As `insert`, inside the caller's transaction, with which the rows live and die: an error ends it, so no statement is repeated. */
  async insertIn(
    items: readonly NewJob[],
    run: (text: string, values: unknown[]) => Promise<Row[]>,
    load: InsertParts['load'],
    together: boolean,
  ): Promise<readonly Inserted[]> {
    if (items.length === 0) return []
    await this.#intern(items)
    // An error would end the caller's transaction, so what might be forgotten by now is not relied on.
    await this.#parts.letting.flows.internAnew(flowingOf(items))
    if (together) return insertTogetherIn(this.#parts, items, run, load)
    const rows = await run(this.#parts.statements.enqueue, [JSON.stringify(this.#keyedRows(items))])
    const { now, verdicts } = verdictsIn(rows, false)
    this.#parts.sawClock(now)
    return this.#answers(items, verdicts, load)
  }

  async insertTogether(items: readonly NewJob[]): Promise<readonly Inserted[]> {
    if (items.length === 0) return []
    await this.#intern(items)
    const answers = await insertTogether(this.#parts, items, this.#held)
    await this.#letIn(items, (i) => answers[i]?.status === 'inserted')
    return answers
  }

  async close(): Promise<void> {
    await Promise.all([this.#keyless.close(), this.#keyed.close(), this.#held.close()])
  }

  async #verdictsOn(items: readonly NewJob[]): Promise<readonly InsertVerdict[]> {
    const verdicts = await this.#batched(items)
    if (!verdicts.some(isBusy)) return verdicts
    const decided = (await this.#held.decided(items.filter((_, i) => isBusy(verdicts[i])))).values()
    return verdicts.map((verdict) => (isBusy(verdict) ? decided.next().value : verdict))
  }

  async #batched(items: readonly NewJob[]): Promise<readonly InsertVerdict[]> {
    if (items.every(isKeyless)) return this.#keyless.add(items)
    const keyless = items.filter(isKeyless)
    // The first of two items with one id wins. Batches of keyed and keyless items run side by side, so a call in which they share ids goes as keyed.
    const mixed = keyless.length > 0 && new Set(items.map(({ job }) => job.id)).size === items.length
    if (!mixed) return this.#inOrder(items)
    const keyed = items.filter((item) => !isKeyless(item))
    const [a, b] = await Promise.all([this.#keyless.add(keyless), this.#inOrder(keyed)])
    const verdicts = new Map<NewJob, InsertVerdict>()
    for (const [i, item] of keyless.entries()) verdicts.set(item, a[i])
    for (const [i, item] of keyed.entries()) verdicts.set(item, b[i])
    return items.map((item) => verdicts.get(item))
  }

  /** Batches of one call are under way at the same time unless they want the same key, which is the first's. */
  async #inOrder(items: readonly NewJob[]): Promise<readonly InsertVerdict[]> {
    if (items.length <= KEYED_MAX || !wantOneTwice(items)) return this.#keyed.add(items)
    const verdicts: InsertVerdict[] = []
    for (let from = 0; from < items.length; from += KEYED_MAX) {
      verdicts.push(...(await this.#keyed.add(items.slice(from, from + KEYED_MAX))))
    }
    return verdicts
  }

  async #intern(items: readonly NewJob[]): Promise<void> {
    const {
      kinds,
      letting: { flows },
    } = this.#parts
    for (const { job } of items) if (!kinds.knows(job)) await kinds.internFor(job)
    await flows.intern(flowingOf(items))
  }

  async #letIn(items: readonly NewJob[], isBorn: (i: number) => boolean): Promise<void> {
    const held: Job[] = []
    for (const [i, { job, flow }] of items.entries()) if (flow !== undefined && isBorn(i)) held.push(job)
    if (held.length > 0) await this.#parts.letting.arrived(held)
  }

  /** Announces what `insert` makes claimable: by NOTIFY inside the commit where one can ride along, else by a hint of its own; not at all where a parked claim has taken all of it. */
  async #announced(
    items: readonly NewJob[],
    insert: (ride: Ride | undefined) => Promise<Done>,
  ): Promise<readonly InsertVerdict[]> {
    const { hints } = this.#parts
    const sides = readySides(items)
    const jobs = sides.length === 0 ? 0 : items.length
    const ride = hints.ride(sides, jobs)
    try {
      const { verdicts, areTaken } = await insert(ride)
      if (!areTaken) hints.work(sides, jobs, ride !== undefined)
      return verdicts
    } catch (error) {
      if (ride !== undefined) hints.failed(ride)
      throw error
    }
  }

  async #insertKeyless(items: readonly NewJob[], ride: Ride | undefined): Promise<Done> {
    const keyless = leastBusy(this.#parts.keyless)
    let again = false
    try {
      const { text, values } = this.#keylessCall(items, ride)
      const [row] = await keyless.run(
        text,
        (repeated) => {
          again = repeated
          return values
        },
        true,
      )
      this.#parts.sawClock(Number(row?.[0]))
      return { verdicts: items.map(() => undefined), areTaken: row?.[1] === true }
    } catch (error) {
      return { verdicts: await this.#brokenUp(keyless, items, again, ride, error), areTaken: false }
    }
  }

  #keylessCall(
    items: readonly NewJob[],
    ride: Ride | undefined,
  ): { readonly text: string; readonly values: unknown[] } {
    const { kinds, statements } = this.#parts
    const rows = items.map((item) => newRow(item, kinds))
    const values = [...columnsOf(rows), literal(uniform(items, birthShape))]
    if (ride === undefined) return { text: statements.insertPlain, values }
    return { text: statements.insertPlainOffering, values: [...values, laneOf(rows), ...ride.values] }
  }

  async #insertKeyed(items: readonly NewJob[], ride: Ride | undefined): Promise<Done> {
    try {
      return await this.#insertKnown(items, ride)
    } catch (error) {
      if (!isFlowGone(error)) throw error
      await this.#parts.letting.flows.internAnew(flowingOf(items))
      return this.#insertKnown(items, ride)
    }
  }

  async #insertKnown(items: readonly NewJob[], ride: Ride | undefined): Promise<Done> {
    const { statements } = this.#parts
    const keyed = leastBusy(this.#parts.keyed)
    let again = false
    const lost = (repeated: boolean) => {
      again ||= repeated
    }
    try {
      const rows = this.#keyedRows(items)
      const done = await this.#insertFree(keyed, items, rows, ride, lost)
      if (done !== undefined) return done
      const offer = ride === undefined ? [] : [laneOf(rows), literal(rows.map(({ i }) => i)), ...ride.values]
      const answer = await keyed.run(
        ride === undefined ? statements.enqueue : statements.enqueueOffering,
        (repeated) => {
          lost(repeated)
          return [JSON.stringify(rows), ...offer]
        },
        true,
      )
      return { verdicts: this.#verdicts(answer, again), areTaken: answer[0]?.[2] === true }
    } catch (error) {
      if (isFlowGone(error)) throw error
      return { verdicts: await this.#brokenUp(keyed, items, again, ride, error), areTaken: false }
    }
  }

  /** Inserts keyed jobs whose keys are all free, as most are. Undefined, and nothing is written, if one is held, or a job is careful or has a flow. */
  async #insertFree(
    keyed: Connection,
    items: readonly NewJob[],
    rows: readonly KeyedRow[],
    ride: Ride | undefined,
    lost: (repeated: boolean) => void,
  ): Promise<Done | undefined> {
    const { statements, sawClock } = this.#parts
    const keys = keyColumnsOf(rows)
    if (keys === undefined || rows.some(({ ca, hl }) => ca === true || hl !== undefined)) return undefined
    const values = [...columnsOf(rows), literal(uniform(items, birthShape)), ...keys]
    const offer = ride === undefined ? [] : [laneOf(rows), ...ride.values]
    const ask = (repeated: boolean) => {
      lost(repeated)
      return [...values, ...offer]
    }
    try {
      const text = ride === undefined ? statements.insertKeyed : statements.insertKeyedOffering
      const [row] = await keyed.run(text, ask, true)
      if (row === undefined || row[0] === null) return undefined
      sawClock(Number(row[0]))
      return { verdicts: items.map(() => undefined), areTaken: row[1] === true }
    } catch (error) {
      if (!mayBreakUp(error)) throw error
      return undefined
    }
  }

  async #brokenUp(
    connection: Connection,
    items: readonly NewJob[],
    again: boolean,
    ride: Ride | undefined,
    error: unknown,
  ): Promise<readonly InsertVerdict[]> {
    if (!mayBreakUp(error)) throw error
    // News of ended jobs rode along with this statement: they must not wait for what is the matter with the new ones.
    if (ride !== undefined) this.#parts.hints.failed({ ...ride, queues: new Map() })
    const verdicts = await brokenUp<NewJob, InsertVerdict>(
      items,
      (item) => this.#alone(connection, item, again),
      (rule) => `rejected:${rule}`,
    )
    if (ride !== undefined) this.#parts.hints.failed({ ...ride, jobs: new Map() })
    return verdicts
  }

  async #alone(connection: Connection, item: NewJob, again: boolean): Promise<InsertVerdict> {
    return (await this.#asked(connection, this.#parts.statements.enqueue, [item], again))[0]
  }

  /** Asks again for jobs that were busy. The transaction that holds their keys may be an earlier try of theirs whose answer was lost. */
  async #askAgain(items: readonly NewJob[]): Promise<readonly InsertVerdict[]> {
    const { keyed, statements, hints } = this.#parts
    const verdicts = await this.#asked(keyed[0], statements.enqueueEach, items, true)
    const born = items.filter((_, i) => verdicts[i] === undefined)
    hints.work(readySides(born), born.length)
    return verdicts
  }

  /** `again`: a try before this one may have inserted them. */
  async #asked(
    connection: Connection,
    statement: string,
    items: readonly NewJob[],
    again: boolean,
  ): Promise<readonly InsertVerdict[]> {
    let repeated = again
    const words = (lost: boolean) => {
      repeated ||= lost
      return [JSON.stringify(this.#keyedRows(items))]
    }
    try {
      const rows = await connection.run(statement, words, true)
      return this.#verdicts(rows, repeated)
    } catch (error) {
      return items.map(() => whileLocked(error))
    }
  }

  #keyedRows(items: readonly NewJob[]): readonly KeyedRow[] {
    const {
      kinds,
      letting: { flows },
    } = this.#parts
    return items.map((item) => keyedRow(item, kinds, flows.heldLane(item.job)))
  }

  #verdicts(rows: Row[], again: boolean): readonly InsertVerdict[] {
    const { now, verdicts } = verdictsIn(rows, again)
    this.#parts.sawClock(now)
    return verdicts
  }

  /** Synchronous where nobody was first. */
  #answers(
    items: readonly NewJob[],
    verdicts: readonly InsertVerdict[],
    load: InsertParts['load'] = this.#parts.load,
  ): readonly Inserted[] | Promise<readonly Inserted[]> {
    if (verdicts.every((verdict) => verdict === undefined)) return items.map(() => INSERTED)
    return this.#met(items, verdicts, load)
  }

  async #met(
    items: readonly NewJob[],
    verdicts: readonly InsertVerdict[],
    load: InsertParts['load'],
  ): Promise<readonly Inserted[]> {
    const found = await load(meetingsIn(items, verdicts).filter(({ holder }) => holder > 0))
    const answers: Inserted[] = []
    for (const [i, verdict] of verdicts.entries()) answers.push(await this.#answer(items[i] as NewJob, verdict, found))
    return answers
  }

  async #answer(item: NewJob, verdict: InsertVerdict, found: ReadonlyMap<number, There>): Promise<Inserted> {
    // The holder has been purged meanwhile: the place is free, so the item is inserted again.
    return insertedBy(item, verdict, found) ?? ((await this.insert([item]))[0] as Inserted)
  }
}

const flowingOf = (items: readonly NewJob[]): readonly NewJob[] => items.filter(({ flow }) => flow !== undefined)

/** Keyless jobs in one commit: with 500 the server took 0.7 µs a job more. */
const KEYLESS_MAX = 2_000
/** Fewer: where one of them is held up, the others go one by one. */
const KEYED_MAX = 1_000

/** The lane of the first job that may be claimed at once: `offer` looks for a claim parked there. */
const laneOf = (rows: readonly NewRow[]): number => rows.find(({ p }) => p === undefined)?.l ?? 0

const isKeyless = ({ keys, job, flow }: NewJob): boolean =>
  flow === undefined && keys.length === 0 && job.spec.alias === undefined && isMereRenewal(job)

/** As far as keys can tell that are compared without their tenants. */
function wantOneTwice(items: readonly NewJob[]): boolean {
  const seen = new Set<string>()
  let wanted = 0
  for (const { job, keys } of items) {
    wanted += 1 + keys.length
    seen.add(`id ${job.spec.alias ?? job.id}`)
    for (const { purpose, key } of keys) seen.add(`${purpose} ${key}`)
  }
  return seen.size < wanted
}

const sizeOf = ({ input }: NewJob): number => 200 + (input?.length ?? 0)
