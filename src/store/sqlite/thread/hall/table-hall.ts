/**
 * The hall as it lies in the tables, for one look of core at it, during which nothing is written. What core draws one by one is
 * read a few rows at a time, each part by a statement of its own: core has several rings open at once, and a statement has
 * one cursor.
 */
import { assert } from '../../../../core/assert.ts'
import type { Gate } from '../../../../core/flow/gate.ts'
import type { Flow, Hall, Held, Place } from '../../../../core/flow/hall.ts'
import { type Counted, countOf, type KeyUse, type Slot } from '../../../../core/flow/slots.ts'
import { idText } from '../../../../core/id.ts'
import type { JobId, Priority, Time } from '../../../../core/job.ts'
import { isPaused } from '../paused.ts'
import { all, one, type Row } from '../rows.ts'
import type { ReadStatements } from '../statements.ts'
import { flowOf } from './flow-cells.ts'
import { heldLane } from './lanes.ts'

/** Rows that are read at a time: mostly one or two of them are wanted. */
const FEW = 4

export class TableHall implements Hall {
  readonly window: number
  readonly #sql: ReadStatements
  readonly #now: Time
  readonly #readyAt = new Map<JobId, Time>()

  constructor(sql: ReadStatements, now: Time, window: number) {
    this.window = window
    this.#sql = sql
    this.#now = now
  }

  flow(name: string): Flow {
    const row = one(this.#sql.flow, Number(name))
    assert(row !== undefined, `flow ${name} exists`)
    return flowOf(row)
  }

  *ring(place: Place, priority: Priority): Generator<Flow> {
    let pass = Number.NEGATIVE_INFINITY
    let last = 0
    for (;;) {
      const rows = all(this.#sql.flowsWaiting, place, priority, pass, last, FEW)
      for (const row of rows) {
        const flow = flowOf(row)
        yield flow
        pass = flow.pass
        last = Number(flow.name)
      }
      if (rows.length < FEW) return
    }
  }

  lastOf(place: Place, priority: Priority, account: string): number | undefined {
    return one(this.#sql.lastWaiting, place, priority, account)?.[0] as number | undefined
  }

  prioritiesAt(place: Place): readonly Priority[] {
    const found: Priority[] = []
    for (;;) {
      const row = one(this.#sql.priorityWaiting, place, found.at(-1) ?? -1)
      if (row === undefined) return found
      found.push(row[0] as Priority)
    }
  }

  hungrySince(place: Place, priority: Priority): Time {
    return (one(this.#sql.hungrySince, place, priority)?.[0] as Time | undefined) ?? this.#now
  }

  *held(flow: string): Generator<Held> {
    let readyAt = 0
    let last = 0
    for (;;) {
      const rows = all<[readyAt: Time, id: number]>(this.#sql.heldIn, heldLane(Number(flow)), readyAt, last, FEW)
      for (const [at, id] of rows) {
        const job = idText(id)
        this.#readyAt.set(job, at)
        yield { job, readyAt: at }
        readyAt = at
        last = id
      }
      if (rows.length < FEW) return
    }
  }

  /** The time by which a job that was drawn has its place in its lane. */
  readyAtOf(job: JobId): Time {
    const readyAt = this.#readyAt.get(job)
    assert(readyAt !== undefined, `${job} was drawn before it was let in`)
    return readyAt
  }

  key(name: string): Counted {
    const use = useOf(this.#sql, Number(name))
    return { gate: use.gate, count: countOf(use, this.#now) }
  }

  standing(lane: string): number {
    return all(this.#sql.standingIn, Number(lane), this.window).length
  }

  isPaused(queue: string): boolean {
    const [tenant, name] = one(this.#sql.queueNames, Number(queue)) as readonly [string, string]
    return isPaused(this.#sql, tenant, name)
  }
}

export function useOf(sql: ReadStatements, key: number): KeyUse {
  const row = one(sql.flowKey, key)
  const [, spent, window] = row as readonly [string, number, number]
  return {
    gate: gateIn(row),
    slots: all<SlotRow>(sql.slotsOf, key).map(slotOf),
    paces: all<[claimed: Time, starts: number]>(sql.pacesOf, key).flatMap(([claimed, starts]) =>
      new Array<Time>(starts).fill(claimed),
    ),
    spent,
    window,
  }
}

export function gateIn(key: Row | undefined): Gate {
  assert(key !== undefined, 'a key that has slots exists')
  return JSON.parse(key[0] as string) as Gate
}

export type SlotRow = readonly [job: number, letInAt: Time, claimedAt: Time | null]

export const slotOf = ([job, letInAt, claimedAt]: SlotRow): Slot => ({
  job: idText(job),
  letInAt,
  claimedAt: claimedAt ?? undefined,
})
