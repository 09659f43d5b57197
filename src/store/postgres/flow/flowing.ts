/** What a move does to slots, keys and budgets besides, as `flow_move` takes it. */
import { placeMoveOf } from '../../../core/flow/membership.ts'
import { idNumber } from '../../../core/id.ts'
import { storable } from '../../codec/text.ts'
import type { KeyMove, MoveChange } from '../../store.ts'
import { keyText, named } from '../enqueue/new-row.ts'
import { documentRow, type NumberedFlow } from './flows.ts'

/** Whether anything becomes of a slot, a key or a budget. */
export const isFlowing = ({ before, after, flow, spent }: MoveChange): boolean =>
  after.spec.flow !== undefined && (flow !== undefined || spent !== undefined || placeMoveOf(before, after) !== 'stay')

/** The names are explained in `flow_left.sql`. */
export const flowRow = ({ before, after, flow, spent }: MoveChange, { id }: NumberedFlow) => ({
  i: idNumber(before.id),
  f: id,
  m: placeMoveOf(before, after),
  km: flow && keyMoveRow(before.spec.kind.tenant, flow),
  sp: spent?.map(({ amount, key }) => ({ a: amount, k: key === undefined ? undefined : keyText(key) })),
})

/** The move of a flow key. The names are explained in `flow_set.sql`. */
export function keyMoveRow(tenant: string, { key, rev, on, next }: KeyMove): object {
  const row = { t: storable(tenant), ...named(key), v: rev, b: on === undefined ? undefined : storable(on) }
  if (next === 'same' || next === 'forgotten') return { ...row, z: next }
  return { ...row, ...documentRow(next), l: next.log === undefined ? undefined : storable(next.log) }
}
