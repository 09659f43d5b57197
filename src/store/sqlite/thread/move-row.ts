import type { Time } from '../../../core/job.ts'
import type { KindRef, MoveMore, MoveRow, Place } from '../rows.ts'

/** A `MoveRow` by name. */
export interface Move {
  readonly id: number
  /** Where it must still be. */
  readonly rev: number
  readonly kind: number
  readonly from: Place
  readonly fromState: string
  readonly fromPriority: number
  readonly fromReadyAt: Time | null
  readonly notAfter: Time | null
  readonly to: Place
  readonly record: string | null
  readonly log: string
  readonly output: string | null
  readonly more: MoveMore | null
  readonly state: string
  readonly newRev: number
  readonly seq: number
  readonly generation: number
  readonly attempt: number
  readonly priority: number
  readonly readyAt: Time | null
  readonly tick: Time | null
  readonly careful: 0 | 1
  readonly code: number | null
  readonly endedAt: Time | null
  readonly fence: string | null
  readonly expiresAt: Time | null
  readonly beats: number
  readonly beatId: string | null
  readonly worker: string | null
  readonly requests: readonly number[] | null
  /** Its facts begin here and end with it. */
  readonly row: MoveRow
  readonly factsFrom: number
}

const FACTS_FROM = 31

export function moveOf(row: MoveRow, kindOf: (ref: KindRef) => number): Move {
  return {
    id: row[1],
    rev: row[2],
    kind: kindOf(row[3]),
    from: row[4],
    fromState: row[5],
    fromPriority: row[6],
    fromReadyAt: row[7],
    notAfter: row[8],
    to: row[9],
    record: row[10],
    log: row[11],
    output: row[12],
    more: row[13],
    state: row[14],
    newRev: row[15],
    seq: row[16],
    generation: row[17],
    attempt: row[18],
    priority: row[19],
    readyAt: row[20],
    tick: row[21],
    careful: row[22],
    code: row[23],
    endedAt: row[24],
    fence: row[25],
    expiresAt: row[26],
    beats: row[27],
    beatId: row[28],
    worker: row[29],
    requests: row[30],
    row,
    factsFrom: FACTS_FROM,
  }
}
