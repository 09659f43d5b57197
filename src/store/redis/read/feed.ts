import { assert } from '../../../core/assert.ts'
import { EVENT_OF } from '../../codec/codes.ts'
import { numbersIn } from '../../codec/numbers.ts'
import type { EventPage, FeedItem } from '../../store.ts'
import { pairs, word, words } from '../connection/reply.ts'
import { idOf } from '../job/id-text.ts'
import { type Group, groupsIn } from './entry.ts'
import { nothing } from './page.ts'
import type { ReadParts } from './read-log.ts'
import { endOf } from './tally.ts'

/** Entries read at a time: one has at least one event. */
const ENTRIES = 100

/** All events, in the order of the log: an entry's number and the place in it are a position. */
export async function feed(parts: ReadParts, after: string | undefined, limit: number): Promise<EventPage> {
  const { calls, kinds } = parts
  const [entry, place] = after === undefined || after === '' ? [1, 0] : numbersIn(after, 2, 'position of this feed')
  const most = after === undefined ? 0 : Math.min(ENTRIES, limit)
  const answer = await calls.call('feed', [String(entry), String(most)])
  const page = nothing(calls.timeIn(answer), Number(word(answer[1])))
  if (after === undefined) return { ...page, cursor: endOf(Number(word(answer[2]))) }
  const entries = pairs(words(answer.slice(3))).map(([seq, text]) => ({ seq: Number(seq), groups: groupsIn(text) }))
  await kinds.learn(entries.flatMap(({ groups }) => groups.map(({ kind }) => kind)))
  const found: FeedItem[] = []
  for (const { seq, groups } of entries) {
    let at = 0
    for (const group of groups) {
      for (const id of group.ids) {
        at += 1
        if (found.length === limit || (seq === entry && at <= place)) continue
        found.push({ position: `${seq}.${at}`, jobId: idOf(id), ...whatOf(group, parts) })
      }
    }
  }
  return { ...page, feed: found, cursor: found.at(-1)?.position ?? after }
}

function whatOf({ type, rev, kind }: Group, { kinds }: ReadParts): Omit<FeedItem, 'position' | 'jobId'> {
  const { tenant, queue, type: jobType } = kinds.get(kind)
  const known = EVENT_OF[type]
  assert(known !== undefined, `an event type this version knows, not ${type}`)
  return { rev, type: known, tenant, queue, jobType }
}
