/** What a move does to slots, keys and budgets besides, as `flow_move` takes it. */
import { placeMoveOf } from '../../../core/flow/membership.ts'
import { idNumber } from '../../../core/id.ts'
import { storable } from '../../codec/text.ts'
import type { KeyMove, MoveChange } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import { keyText, named } from '../enqueue/new-row.ts'
import { documentRow, type Flows, type NumberedFlow } from './flows.ts'

/** Whether anything becomes of a slot, a key or a budget. */
export const isFlowing = ({ before, after, flow, spent }: MoveChange): boolean =>
  after.spec.flow !== undefined && (flow !== undefined || spent !== undefined || placeMoveOf(before, after) !== 'stay')

/** The keys that these ends compare, each with the revision it was read at, once however many say the same: as `flow_settle` takes them. */
export function comparedKeys(changes: readonly MoveChange[], flows: Pick<Flows, 'of'>): [keys: string, revs: string] {
  const compared = new Map<string, readonly [key: number | undefined, rev: number]>()
  for (const { after, flow } of changes) {
    if (flow === undefined) continue
    const key = flows.of(after)?.keys[after.spec.flow?.keys.indexOf(flow.key) ?? -1]
    compared.set(`${key} ${flow.rev}`, [key, flow.rev])
  }
  const rows = [...compared.values()]
  return [literal(rows.map(([key]) => key)), literal(rows.map(([, rev]) => rev))]
}

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
