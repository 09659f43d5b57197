/** Flow keys: made by the first job that names one, changed by revision, and removed once nobody is under them. */
import { gateOf } from '../../../../core/flow/gate.ts'
import { atRest } from '../../../../core/flow/key.ts'
import { original } from '../../../codec/text.ts'
import type { KeyMoveRow, KeyRowNext, NewFlow } from '../../rows.ts'
import type { Ledger } from '../ledger.ts'
import { all, one } from '../rows.ts'
import type { Statements } from '../statements.ts'
import { heldLane } from './lanes.ts'

/** The number of a key. One that nobody has said anything of counts slots, and limits nothing. */
export function keyNumber(sql: Statements, tenant: string, name: string): number {
  return known(sql, tenant, name)?.[0] ?? insertKey(sql, tenant, name, 0, unlimited(name))
}

const unlimited = (name: string): KeyRowNext => {
  const gate = gateOf(atRest(original(name)), {})
  return [JSON.stringify(gate), gate.weight, '', null]
}

/** Makes the keys that are not there. */
export function bearKeys({ sql, usher }: Ledger, tenant: string, births: NewFlow['births']): void {
  for (const [name, next] of births) {
    const [key, rev] = known(sql, tenant, name) ?? []
    if (key === undefined) insertKey(sql, tenant, name, 1, next)
    else if (rev === 0) {
      sql.moveKey.run(...next, key)
      usher.change(key)
    }
  }
}

/** Whether the key is at the revision that the move was judged by, and may be moved. */
export function mayMoveKey({ sql }: Ledger, tenant: string, [name, rev, next, on]: KeyMoveRow): boolean {
  const [key, there = 0, text] = known(sql, tenant, name) ?? []
  if (on !== undefined && on !== text) return false
  return there === rev && (next !== 'forgotten' || key === undefined || isDeserted(sql, key))
}

/** Moves a key that may be moved. */
export function moveKey({ sql, usher }: Ledger, tenant: string, [name, rev, next]: KeyMoveRow): void {
  if (next === 'same') return
  const [key] = known(sql, tenant, name) ?? []
  if (next === 'forgotten') {
    if (key !== undefined) forgetKey(sql, key)
  } else if (key === undefined) insertKey(sql, tenant, name, rev + 1, next)
  else {
    sql.moveKey.run(...next, key)
    usher.change(key)
  }
}

function insertKey(sql: Statements, tenant: string, name: string, rev: number, next: KeyRowNext): number {
  return one(sql.insertKey, tenant, name, rev, ...next)?.[0] as number
}

const known = (sql: Statements, tenant: string, name: string) =>
  one(sql.keyByName, tenant, name) as readonly [key: number, rev: number, text: string] | undefined

/** Nobody is held, stands or is owned under the key. */
const isDeserted = (sql: Statements, key: number): boolean =>
  one(sql.slotsOf, key) === undefined &&
  all<[flow: number]>(sql.flowsOf, key).every(([flow]) => one(sql.standingIn, heldLane(flow), 1) === undefined)

/** Removes a deserted key, and the flows that name it, of which none has anybody. */
function forgetKey(sql: Statements, key: number): void {
  for (const [flow] of all<[flow: number]>(sql.flowsOf, key)) {
    sql.deleteCrossings.run(flow)
    sql.deleteFlow.run(flow)
  }
  sql.deletePaces.run(key)
  sql.deleteHunger.run(`key ${key}`)
  sql.deleteKey.run(key)
}
