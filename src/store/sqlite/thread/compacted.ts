import { evolve } from '../../../core/evolve.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { kindOf } from '../../codec/kind.ts'
import { eventsOf } from '../decode.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { Reading } from './reading.ts'
import { Room, stretchesAfter } from './stretches.ts'

/**
 * The whole log of an ended job again, from its second event on, with one event in the place of those it stands for. Here,
 * because a log that is worth it takes long to read: nobody waits for this thread who has no question of that kind.
 */
export function compacted(reading: Reading, { id, event, replaces }: Asked<'compacted'>): Answered<'compacted'> {
  const job = reading.whole(id)
  if (job === undefined) return null
  const { log } = stretchesAfter(reading, id, 0, new Room(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY))
  const [, , was] = log.at(-1) ?? []
  const gone = new Set(replaces)
  const [first, ...rest] = eventsOf(job, log, { get: (kind) => kindOf(reading.kinds.textOf(kind)) })
  if (first === undefined || was == null) return null
  const kept = [...rest.filter(({ rev }) => !gone.has(rev)), event].sort((a, b) => a.rev - b.rev)
  const born = evolve(undefined, first)
  return { was, log: encodeEvents(kept, born.spec, baseOf(born), 'alone') }
}
