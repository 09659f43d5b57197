import type { State, Time } from '../../../core/job.ts'
import { STATE_OF } from '../../codec/codes.ts'
import type { EventPage, Tally, TallyQuery } from '../../store.ts'
import { pairs, word, words } from '../connection/reply.ts'
import { nothing } from './page.ts'
import type { ReadParts } from './read-log.ts'

export interface Counted {
  /** Number of the kind, and letter of the state. */
  readonly kind: string
  readonly code: string
  readonly state: State
  readonly count: number
}

export interface TallyAnswer {
  readonly now: Time
  readonly purged: number
  /** Number of the last entry. */
  readonly seq: number
  readonly counts: readonly Counted[]
}

/** How many there are of each kind in each state; all those kinds are known then. */
export async function readTally({ calls, kinds }: ReadParts): Promise<TallyAnswer> {
  const answer = await calls.call('tally', [])
  const counts = pairs(words(answer[3])).map(([field, count]) => {
    const [kind = '', code = ''] = field.split(' ')
    return { kind, code, state: STATE_OF[code] as State, count: Number(count) }
  })
  await kinds.learn(counts.map(({ kind }) => kind))
  return { now: calls.timeIn(answer), purged: Number(word(answer[1])), seq: Number(word(answer[2])), counts }
}

export async function tallied(parts: ReadParts, wanted: Pick<TallyQuery, 'tenant' | 'queue'>): Promise<EventPage> {
  const { now, purged, seq, counts } = await readTally(parts)
  const sums = new Map<string, Tally>()
  for (const { kind, state, count } of counts) {
    const { tenant, queue, type } = parts.kinds.get(kind)
    if (wanted.tenant !== undefined && tenant !== wanted.tenant) continue
    if (wanted.queue !== undefined && queue !== wanted.queue) continue
    const name = JSON.stringify([tenant, queue, type, state])
    sums.set(name, { tenant, queue, jobType: type, state, count: count + (sums.get(name)?.count ?? 0) })
  }
  return { ...nothing(now, purged), tally: [...sums.values()].filter(({ count }) => count !== 0), cursor: endOf(seq) }
}

/** A position is an entry and a place in it; the end is before the first place of the entry to come. */
export const endOf = (last: number): string => `${last + 1}.0`
