/** What core said of a look at the hall, written: flows that moved, jobs that were let in, and when to look again. Returns the lanes that they stand in now. */
import { assert } from '../../../../core/assert.ts'
import type { Flow, Place } from '../../../../core/flow/hall.ts'
import type { LetIn } from '../../../../core/flow/let-in.ts'
import { idNumber } from '../../../../core/id.ts'
import type { Priority, Time } from '../../../../core/job.ts'
import type { Statements } from '../statements.ts'
import { heldLane } from './lanes.ts'
import type { TableHall } from './table-hall.ts'

export function carryOut(
  sql: Statements,
  hall: TableHall,
  { admitted, flows, wakes, fed, again }: LetIn,
  now: Time,
): ReadonlySet<number> {
  const filled = new Set<number>()
  for (const flow of flows) moveFlow(sql, hall, flow, now)
  for (const { job, flow: name, keys } of admitted) {
    const id = idNumber(job) as number
    const flow = Number(name)
    const lane = Number(hall.flow(name).lane)
    const readyAt = hall.readyAtOf(job)
    const { changes } = sql.letIn.run(lane, now, flow, readyAt, heldLane(flow), readyAt, id)
    assert(changes === 1, `${job} is held by its flow`)
    for (const key of keys) sql.takeSlot.run(Number(key), id, flow, now, null)
    filled.add(lane)
  }
  for (const [key, at] of wakes) sql.wake.run(at, Number(key))
  for (const { place, priority } of fed) if (!isEmpty(hall, place, priority)) sql.hunger.run(place, priority, now)
  // Flows that were drawn and not done with say so themselves; the others are found where they wait. At lanes and queues every round looks.
  for (const place of again) if (place.startsWith(KEYS)) sql.wake.run(now, Number(place.slice(KEYS.length)))
  return filled
}

const KEYS = 'key '

/** A ring without anybody in it is not hungry, and has no row. */
export function moveFlow(sql: Statements, hall: TableHall, flow: Flow, now: Time): void {
  const { name, priority, pass, waitsAt, nextAt } = flow
  const before = hall.flow(name)
  if (before.pass === pass && before.waitsAt === waitsAt && before.nextAt === nextAt) return
  const joins = waitsAt !== undefined && waitsAt !== before.waitsAt && isEmpty(hall, waitsAt, priority)
  sql.moveFlow.run(pass, waitsAt ?? null, nextAt ?? null, Number(name))
  if (joins) sql.hunger.run(waitsAt, priority, now)
  const left = before.waitsAt
  if (left !== undefined && left !== waitsAt && isEmpty(hall, left, priority)) sql.sate.run(left, priority)
}

const isEmpty = (hall: TableHall, place: Place, priority: Priority): boolean =>
  hall.ring(place, priority).next().done === true
