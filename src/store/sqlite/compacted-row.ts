import { evolve } from '../../core/evolve.ts'
import { idNumber } from '../../core/id.ts'
import { encodeEvents, standing } from '../codec/events.ts'
import { encodeRecord } from '../codec/record.ts'
import type { Change, Verdict } from '../store.ts'
import type { Channel } from './channel.ts'
import { eventsOf } from './decode.ts'
import type { Kinds } from './kinds.ts'
import type { ChangeRow } from './rows.ts'

type Compact = Extract<Change, { kind: 'compact' }>

/** The whole log of an ended job again, with one event in the place of those it stands for. */
export async function compactedRow(channel: Channel, kinds: Kinds, change: Compact): Promise<ChangeRow | Verdict> {
  const { before, event, replaces } = change
  const id = idNumber(before.id)
  const { answered } = await channel.call('log', { id: id ?? 0, afterRev: 0, limit: Number.MAX_SAFE_INTEGER })
  const was = answered.log.at(-1)?.[2]
  if (id === undefined || answered.job === null || was == null) return { status: 'conflict' }
  const gone = new Set(replaces)
  const [first, ...rest] = eventsOf(answered.job, answered.log, kinds)
  const kept = [...rest.filter(({ rev }) => !gone.has(rev)), event].sort((a, b) => a.rev - b.rev)
  if (first === undefined) return { status: 'conflict' }
  const log = encodeEvents(kept, before.spec, standing(evolve(undefined, first)), 'alone')
  return ['compact', id, before.rev, was, log, encodeRecord(before)]
}
