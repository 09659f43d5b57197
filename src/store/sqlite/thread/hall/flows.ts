import type { FlowRow } from '../../rows.ts'
import type { Ledger } from '../ledger.ts'
import { one } from '../rows.ts'
import { keyNumber } from './keys.ts'
import { letInLane } from './lanes.ts'

/** Where jobs of a flow stand once they are let in. */
export interface FlowLane {
  readonly tenant: string
  readonly kind: number
  readonly priority: number
  readonly needs: string | null
  /** The queue that its jobs were sent to. Null: they are in that of their kind. */
  readonly sentTo: string | null
}

/** The number of a flow, which is made where it is new; and with it those of its keys of which no job has told yet. */
export function flowNumber(ledger: Ledger, [name, keys, weighedBy]: FlowRow, where: FlowLane): number {
  const { sql, kinds } = ledger
  const known = one(sql.flowByName, name)?.[0]
  if (typeof known === 'number') return known
  const { tenant, kind, priority, needs, sentTo } = where
  const numbers = [...new Set(keys)].map((key) => keyNumber(sql, tenant, key))
  const queue = kinds.queueOf(kind, sentTo)
  const lane = letInLane(kinds.lane(kind, priority, needs, sentTo))
  const flow = one(sql.insertFlow, name, tenant, queue, lane, priority, JSON.stringify(numbers), weighedBy)
  const number = flow?.[0] as number
  for (const key of numbers) sql.insertCrossing.run(key, number)
  return number
}
