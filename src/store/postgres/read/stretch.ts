/** A row of history with all that is needed to read it by itself (`read/stretch.sql`). */
import { violated } from '../../../core/assert.ts'
import type { Event } from '../../../core/event.ts'
import { evolve } from '../../../core/evolve.ts'
import { liveStateOf } from '../../../core/job.ts'
import { baseIn, decodeEvents } from '../../codec/events.ts'
import type { Row } from '../connection/client.ts'
import type { Kinds } from '../names/kinds.ts'
import {
  type BeatRun,
  type Birth,
  type ClaimStamp,
  enqueuedEvent,
  eventsOf,
  extraEvents,
  type LoggedCommit,
} from './records.ts'

export interface Stretch {
  readonly birth: Birth
  readonly at: number
  readonly fromRev: number
  readonly rev: number
  /** Rank of the state that the claim came from; absent where the stretch has no claim. */
  readonly rank: number | undefined
  /** The row before, where the text follows that one. */
  readonly before: LoggedCommit | null
  readonly claim: ClaimStamp | null
  readonly beats: readonly BeatRun[] | null
  readonly text: string
}

export async function stretches(kinds: Kinds, rows: readonly Row[]): Promise<readonly Stretch[]> {
  await kinds.ensure(rows.map((row) => Number(row[2])))
  return rows.map(([id, createdAt, kind, lane, head, at, fromRev, rev, rank, before, claim, beats, text]) => ({
    birth: {
      id: Number(id),
      createdAt: Number(createdAt),
      kind: kinds.byId(Number(kind)).kind,
      lane: Number(lane),
      head: typeof head === 'string' ? head : null,
    },
    at: Number(at),
    fromRev: Number(fromRev),
    rev: Number(rev),
    rank: rank === null ? undefined : Number(rank),
    before: json(before) as LoggedCommit | null,
    claim: json(claim) as ClaimStamp | null,
    beats: json(beats) as readonly BeatRun[] | null,
    text: String(text),
  }))
}

const json = (value: Row[number] | undefined): unknown => (typeof value === 'string' ? JSON.parse(value) : null)

export function eventsIn({ birth, fromRev, rank, before, claim, beats, text }: Stretch): readonly Event[] {
  const born = enqueuedEvent(birth)
  const { jobId } = born
  const { spec } = born.payload
  const base = baseIn(text)
  if (base === undefined) {
    const first = evolve(undefined, born)
    const job = before === null ? first : eventsOf(first, before).reduce(evolve, first)
    return eventsOf(job, [claim, beats, text])
  }
  const events = decodeEvents(text, jobId, spec)
  if (claim === null && beats === null) return events
  // The base is after the claim and the heartbeats: what they made of it is taken back.
  const { generation, workerId } = base
  const from =
    claim === null
      ? {
          seq: base.seq,
          attempt: base.attempt,
          state: base.state ?? violated('who was heard of had a state'),
          workerId,
        }
      : { seq: base.seq - 1, attempt: base.attempt - 1, state: liveStateOf(rank), workerId: '' }
  return [...extraEvents({ id: jobId, spec, generation, rev: fromRev, ...from }, claim, beats), ...events]
}
