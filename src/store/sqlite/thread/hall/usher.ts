/**
 * Who keeps the hall: takes slots and frees them, sends back who may not stand any more, and lets in. Whom, core says; this
 * carries it out. During a transaction it notes what was freed and changed and who arrived, and the look at all of that comes
 * once, last. What was noted by a part of the transaction that did not last is looked at in vain, which costs time and nothing else.
 */
import { assert } from '../../../../core/assert.ts'
import { atKey, atLane, LANE_WINDOW, LET_IN_MOST, PATIENCE_MS, type Place } from '../../../../core/flow/hall.ts'
import { letIn } from '../../../../core/flow/let-in.ts'
import { countOf, paceLeftBy, type Slot, withSpent } from '../../../../core/flow/slots.ts'
import {
  afterGivingWay,
  isOutOfPatience,
  isStanding,
  newestFirst,
  oldestFirst,
  takenBack,
} from '../../../../core/flow/take-back.ts'
import { idNumber, idText } from '../../../../core/id.ts'
import type { JobId, Time } from '../../../../core/job.ts'
import { all, one } from '../rows.ts'
import type { Statements } from '../statements.ts'
import { carryOut, moveFlow } from './carry-out.ts'
import { flowOf } from './flow-cells.ts'
import { heldLane } from './lanes.ts'
import { LANES, QUEUES } from './statements.ts'
import { gateIn, type SlotRow, slotOf, TableHall, useOf } from './table-hall.ts'

/** Keys, and jobs, whose time has come that one look takes up at most. */
const AT_ONCE = 100

/** A job that was let in and that nobody has claimed. */
export interface Standing {
  readonly flow: number
  readonly lane: number
  /** Its place in the lane, and the one that it had among the held. */
  readonly letInAt: Time
  readonly heldAt: Time
}

/** Undefined: the job does not stand. */
export function standingOf(sql: Statements, job: number): Standing | undefined {
  const row = one(sql.standing, job)
  if (row === undefined) return undefined
  const [flow, lane, letInAt, heldAt] = row as readonly [number, number, Time, Time]
  return { flow, lane, letInAt, heldAt }
}

export class Usher {
  readonly #sql: Statements
  readonly #window: number
  readonly #places = new Set<Place>()
  readonly #changed = new Set<number>()
  readonly #arrived = new Set<number>()
  readonly #due = new Set<number>()
  /** Numbers of the lanes that jobs were let into, until somebody asks. */
  readonly #filled = new Set<number>()

  constructor(sql: Statements, window: number = LANE_WINDOW) {
    this.#sql = sql
    this.#window = window
  }

  /** A job of this flow is held as of now. */
  arrive(flow: number): void {
    this.#arrived.add(flow)
  }

  /** Somebody may have room here now. */
  look(place: Place): void {
    this.#places.add(place)
  }

  /** The key may bear more than it did, or not bear what stands at it any more. */
  change(key: number): void {
    this.#changed.add(key)
  }

  /** Frees the slots of a job that neither stands nor is owned any more. What a rate still counts of them stays. */
  free(job: number, now: Time): void {
    for (const [key, ...row] of all<[key: number, ...SlotRow]>(this.#sql.freeSlots, job)) {
      const slot = slotOf(row)
      const gate = gateIn(one(this.#sql.flowKey, key))
      const pace = paceLeftBy(slot, gate, now)
      this.#sql.forgetPaces.run(key, now - gate.rateMs)
      if (pace !== undefined) this.#sql.addPace.run(key, pace)
      this.look(atKey(String(key)))
    }
  }

  /** Stamps the slots of a job that is claimed. Returns its keys. */
  claim(job: number, now: Time): readonly number[] {
    this.#sql.stampSlots.run(now, job)
    return all<[key: number]>(this.#sql.keysOf, job).map(([key]) => key)
  }

  spend(key: number, amount: number, now: Time): void {
    const use = useOf(this.#sql, key)
    if (use.gate.budget === undefined) return
    const { spent, window } = withSpent(use, amount, now)
    this.#sql.setSpent.run(spent, window, key)
    this.change(key)
  }

  /** Takes back all that stands in these lanes: their queue was paused. */
  clear(lanes: readonly number[], now: Time): void {
    for (const lane of lanes) {
      for (const [id] of all(this.#sql.standingIn, lane, this.#window)) this.#sendBack(id as number, now)
    }
  }

  /** Notes all whose time has come, and takes back what nobody claims while others wait for its slots. */
  noteDue(now: Time): void {
    const { stoodSince, flowsDue, keysAwake, unwake } = this.#sql
    const stood = all<[job: number, letInAt: Time]>(stoodSince, now - PATIENCE_MS, AT_ONCE)
      .map(([number, letInAt]) => ({ number, job: idText(number), letInAt, claimedAt: undefined }))
      .sort(oldestFirst)
    for (const slot of stood) if (isOutOfPatience(slot, now)) this.#giveWay(slot.number, now)
    for (const [flow] of all<[flow: number]>(flowsDue, now, LET_IN_MOST.tries)) this.#due.add(flow)
    for (const [key] of all<[key: number]>(keysAwake, now, AT_ONCE)) {
      unwake.run(key)
      this.look(atKey(String(key)))
    }
    for (const place of [...this.#waitedAt(LANES), ...this.#waitedAt(QUEUES)]) this.look(place)
  }

  /** The look at all that was noted. Returns whether there was more to do than one commit does. */
  letIn(now: Time): boolean {
    for (const key of this.#changed) this.#shut(key, now)
    if (this.#places.size + this.#arrived.size + this.#due.size === 0) return false
    const hall = new TableHall(this.#sql, now, this.#window)
    const arrived = [...[...this.#arrived].filter((flow) => this.#isAtLarge(flow)), ...this.#due]
    // Sorted, so that who goes first of two who are equal does not depend on what was freed first.
    const outcome = letIn(hall, [...this.#places].sort(), arrived.map(String), now)
    this.forget()
    for (const lane of carryOut(this.#sql, hall, outcome, now)) this.#filled.add(lane)
    return outcome.again.length > 0 || outcome.flows.some(({ nextAt }) => nextAt === now)
  }

  /** Forgets what was noted: the transaction is over. */
  forget(): void {
    this.#places.clear()
    this.#changed.clear()
    this.#arrived.clear()
    this.#due.clear()
  }

  /** Takes the lanes that jobs were let into since this was last asked. */
  takeFilled(): readonly number[] {
    const lanes = [...this.#filled]
    this.#filled.clear()
    return lanes
  }

  /** Takes back what may not stand any more at a key that changed. */
  #shut(key: number, now: Time): void {
    if (one(this.#sql.flowKey, key) === undefined) return
    const use = useOf(this.#sql, key)
    const counted = { gate: use.gate, count: countOf(use, now) }
    for (const job of takenBack(counted, this.#standingAt(key), now)) this.#sendBack(numberOf(job), now)
    this.look(atKey(String(key)))
  }

  #standingAt(key: number): readonly Slot[] {
    return useOf(this.#sql, key).slots.filter(isStanding).sort(newestFirst)
  }

  /** Back to where it was held, with its place kept. Returns its flow. */
  #sendBack(job: number, now: Time): number {
    const standing = standingOf(this.#sql, job)
    assert(standing !== undefined, `job ${job} stands`)
    const { flow, lane, letInAt } = standing
    this.#sql.sendBack.run(heldLane(flow), lane, letInAt, job)
    this.free(job, now)
    this.look(atLane(String(lane)))
    this.arrive(flow)
    return flow
  }

  #giveWay(job: number, now: Time): void {
    // Asked for once for each of its keys; and where the flow that waits for its slot gave way a moment ago, nobody does any more.
    if (one(this.#sql.isInTheWay, job) === undefined) return
    const flow = this.#sendBack(job, now)
    this.#arrived.delete(flow)
    const hall = new TableHall(this.#sql, now, this.#window)
    moveFlow(this.#sql, hall, afterGivingWay(hall.flow(String(flow)), now), now)
  }

  /** Places of a kind where somebody waits. */
  *#waitedAt([from, to]: readonly [string, string]): Generator<Place> {
    let place = one(this.#sql.placeWaiting, from, to)?.[0]
    for (; typeof place === 'string'; place = one(this.#sql.placeWaiting, place, to)?.[0]) yield place as Place
  }

  /** A flow that waits somewhere is found there. One that was made by a part of the transaction that did not last is nowhere. */
  #isAtLarge(flow: number): boolean {
    const row = one(this.#sql.flow, flow)
    return row !== undefined && flowOf(row).waitsAt === undefined
  }
}

function numberOf(job: JobId): number {
  const number = idNumber(job)
  assert(number !== undefined, `${job} is a job of the store`)
  return number
}
