/** Slots made anew from where jobs are, and flows so that somebody looks at them. What jobs and keys say stays as it is. */
import { LANE_WINDOW } from '../../../../core/flow/hall.ts'
import type { MendRow } from '../../rows.ts'
import type { Ledger } from '../ledger.ts'
import { all, one } from '../rows.ts'
import { moveFlow } from './carry-out.ts'
import { keyNumber } from './keys.ts'
import { type SlotRow, TableHall } from './table-hall.ts'
import { standingOf } from './usher.ts'

export function mend(ledger: Ledger, { tenant, keys, jobs, held, spent, claims }: MendRow): void {
  const { sql, usher, now } = ledger
  for (const name of keys) {
    const key = keyNumber(sql, tenant, name)
    for (const [job] of all<SlotRow>(sql.slotsOf, key)) if (!isSeated(ledger, job)) sql.dropSlot.run(key, job)
    usher.change(key)
  }
  for (const [id, [name, names], owned] of jobs) {
    const standing = standingOf(sql, id)
    const isOwned = one(sql.leaseRev, id) !== undefined
    const [flow] = standing === undefined ? (one(sql.flowByName, name) ?? []) : [standing.flow]
    if (typeof flow !== 'number' || (standing === undefined && !isOwned)) continue
    const since = owned ?? now
    for (const key of new Set(names))
      sql.mendSlot.run(keyNumber(sql, tenant, key), id, flow, standing?.letInAt ?? since, isOwned ? since : null)
  }
  const hall = new TableHall(sql, now, LANE_WINDOW)
  for (const name of held) {
    const [flow] = one(sql.flowByName, name) ?? []
    if (typeof flow !== 'number') continue
    moveFlow(sql, hall, { ...hall.flow(String(flow)), waitsAt: undefined, nextAt: undefined }, now)
    usher.arrive(flow)
  }
  for (const [key, at] of claims) sql.addPace.run(keyNumber(sql, tenant, key), at)
  for (const [key, amount] of spent) usher.spend(keyNumber(sql, tenant, key), amount, now)
}

const isSeated = ({ sql }: Ledger, job: number): boolean =>
  standingOf(sql, job) !== undefined || one(sql.leaseRev, job) !== undefined
