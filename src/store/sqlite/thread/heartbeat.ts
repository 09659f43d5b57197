import type { Answered, Asked } from '../protocol.ts'
import type { BeatenRow, BeatRow } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { one } from './rows.ts'

/** Renews what is still owned. Touches no indexed column. */
export function heartbeat(ledger: Ledger, beats: Asked<'heartbeat'>): Answered<'heartbeat'> {
  return beats.map((row) => beat(ledger, row))
}

function beat({ sql, now }: Ledger, [id, fence, requestId]: BeatRow): BeatenRow {
  const lease = one(sql.beatable, id)
  if (lease === undefined) return 'lost'
  const [held, expiresAt, beatId, careful, rev, beatsAll] = lease as readonly [
    string,
    number,
    string | null,
    number,
    number,
    number,
  ]
  if (held !== fence) return 'lost'
  if (careful === 1) return now >= expiresAt ? 'lost' : 'careful'
  if (beatId === requestId) return [rev, beatsAll, expiresAt, 1]
  if (now >= expiresAt) return 'lost'
  const [newRev, beats, newEnd] = one(sql.beat, now, requestId, id) as readonly [number, number, number]
  return [newRev, beats, newEnd, 0]
}
