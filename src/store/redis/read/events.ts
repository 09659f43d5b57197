import { unreachable } from '../../../core/assert.ts'
import type { Annotation } from '../../../core/event.ts'
import { lateOutcome } from '../../codec/late-outcome.ts'
import { type Backlog, type EventPage, type EventQuery, queueKey } from '../../store.ts'
import { list, pairs, word, words } from '../connection/reply.ts'
import { keysPage } from '../flow/views.ts'
import { idDigits } from '../job/id-text.ts'
import { byCorrelation } from './by-correlation.ts'
import { byJob } from './by-job.ts'
import { byType } from './by-type.ts'
import { withEvicted } from './evicted-rows.ts'
import { feed } from './feed.ts'
import { nothing } from './page.ts'
import type { ReadParts } from './read-log.ts'
import { tallied } from './tally.ts'

export function events(parts: ReadParts, query: EventQuery): Promise<EventPage> {
  return parts.calls.repeated(() => page(parts, query))
}

function page(parts: ReadParts, query: EventQuery): Promise<EventPage> {
  switch (query.by) {
    case 'job':
      return byJob(parts, query)
    case 'annotation':
      return annotations(parts, query.id)
    case 'type':
      return byType(parts, query)
    case 'correlation':
      return byCorrelation(parts, query)
    case 'feed':
      return feed(parts, query.after, query.limit)
    case 'tally':
      return tallied(parts, query)
    case 'backlog':
      return backlog(parts, query.lanes)
    case 'keys':
      return keysPage(parts.calls, query)
    default:
      return unreachable(query)
  }
}

async function annotations({ calls }: ReadParts, id: string): Promise<EventPage> {
  const answer = await calls.call('notes', [idDigits(id) ?? ''])
  const [away] =
    list(answer[3]).length === 0 ? [] : await withEvicted(calls, [answer[3] ?? null], (_, job) => job.notes)
  const notes = words(away ?? answer[2]).map((text): Annotation => {
    const parsed = JSON.parse(text) as Annotation
    return { ...parsed, outcome: lateOutcome(parsed.outcome) }
  })
  return { ...nothing(calls.timeIn(answer), Number(word(answer[1]))), annotations: notes }
}

async function backlog({ calls }: ReadParts, lanes: number): Promise<EventPage> {
  const answer = await calls.call('backlog', [String(lanes)])
  const now = calls.timeIn(answer)
  const found = new Map<string, Backlog>()
  for (const [lane, since] of pairs(words(answer.slice(2)))) {
    if (Number(since) > now) continue
    const [tenant, queue] = queueIn(lane)
    const key = queueKey(tenant, queue)
    found.set(key, { tenant, queue, since: Math.min(Number(since), found.get(key)?.since ?? Number(since)) })
  }
  return { ...nothing(now, Number(word(answer[1]))), backlog: [...found.values()] }
}

/** `lane:5:["t","q"]`, or `side:5:9:["t","q"]"need"`, where the length is told in bytes; `let-` before either: of those who were let in. */
function queueIn(lane: string): readonly [string, string] {
  const [, main, , bytes = '0', side = ''] = /^(?:let-)?(?:lane:\d:(.*)|side:(\d):(\d+):(.*))$/s.exec(lane) ?? []
  const text = main ?? Buffer.from(side).subarray(0, Number(bytes)).toString()
  return JSON.parse(text) as readonly [string, string]
}
