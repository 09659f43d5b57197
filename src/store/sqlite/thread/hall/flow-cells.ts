/** A flow as its row has it. Its name, its keys, its lane and its queue are numbers there, and texts for core. */
import type { Flow, Place } from '../../../../core/flow/hall.ts'
import type { Priority, Time } from '../../../../core/job.ts'
import { named, selected } from '../../named.ts'
import type { Row } from '../rows.ts'

interface FlowCells {
  id: number
  queue: number
  lane: number
  priority: Priority
  keys: string
  account: string
  weight: number
  pass: number
  waitsAt: Place | null
  nextAt: Time | null
}

const COLUMNS: Readonly<Record<keyof FlowCells, string>> = {
  id: 'f.id',
  queue: 'f.queue',
  lane: 'f.lane',
  priority: 'f.priority',
  keys: 'f.keys',
  account: 'f.weighed_by',
  weight: 'coalesce((SELECT k.weight FROM flow_key k WHERE k.tenant = f.tenant AND k.name = f.weighed_by), 1)',
  pass: 'f.pass',
  waitsAt: 'f.waits_at',
  nextAt: 'f.next_at',
}
const FLOW = Object.keys(COLUMNS) as (keyof FlowCells)[]

export const FLOW_COLUMNS = selected(FLOW, COLUMNS)
const flowIn = named<FlowCells>(FLOW)

export function flowOf(row: Row): Flow {
  const { id, queue, lane, priority, keys, account, weight, pass, waitsAt, nextAt } = flowIn(row)
  return {
    name: String(id),
    queue: String(queue),
    lane: String(lane),
    priority,
    keys: (JSON.parse(keys) as readonly number[]).map(String),
    account,
    weight,
    pass,
    waitsAt: waitsAt ?? undefined,
    nextAt: nextAt ?? undefined,
  }
}
