/** The front of a lane, as a claim looks at it: jobs in their order, with what of them is short. */
import type { Time } from '../../../core/job.ts'
import { named, selected } from '../named.ts'

/** Bytes of a head or of a record that ride along without being asked for. */
export const SHORT = 4_096
/** Bytes of an input that do. */
const SHORT_INPUT = 16_384

export interface FrontCells {
  id: number
  at: Time
  /** These three are absent where they are long: how much of it there is decides how many jobs are taken. */
  head: string | null
  record: string | null
  input: string | null
  inputBytes: number | null
  kind: number
  priority: number
  rev: number
  attempt: number
  state: string
  readyAt: Time
  leaseMs: number
  /** Length of head and record together, in bytes. */
  bytes: number
}

const short = (column: string, bytes: number) => `CASE WHEN octet_length(${column}) <= ${bytes} THEN ${column} END`

const COLUMNS: Readonly<Record<keyof FrontCells, string>> = {
  id: 'r.id',
  at: 'j.at',
  head: short('j.head', SHORT),
  record: short('r.record', SHORT),
  input: short('j.input', SHORT_INPUT),
  inputBytes: 'octet_length(j.input)',
  kind: 'r.kind',
  priority: 'j.priority',
  rev: 'r.rev',
  attempt: 'r.attempt',
  state: 'r.state',
  readyAt: 'r.ready_at',
  leaseMs: 'k.lease_ms',
  bytes: 'ifnull(octet_length(j.head), 0) + ifnull(octet_length(r.record), 0)',
}
const FRONT = Object.keys(COLUMNS) as (keyof FrontCells)[]

export const FRONT_COLUMNS = selected(FRONT, COLUMNS)
export const frontIn = named<FrontCells>(FRONT)
