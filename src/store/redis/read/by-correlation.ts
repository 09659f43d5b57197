/** Events that belong together, job by job: those with the correlation as their own, and those in which it was said. */
import type { Event } from '../../../core/event.ts'
import { correlationMark } from '../../codec/marks.ts'
import type { EventPage, EventQuery } from '../../store.ts'
import { words } from '../connection/reply.ts'
import { markWord } from '../job/encode.ts'
import { digitsOf, idDigits, idOf } from '../job/id-text.ts'
import { eventsAfter } from './by-job.ts'
import { nothing } from './page.ts'
import { type ReadParts, readLogs } from './read-log.ts'
import { readTally } from './tally.ts'

type Query = Extract<EventQuery, { by: 'correlation' }>

/** Jobs looked at for one page, about, and looked for at a time; stretches of each. */
const JOBS = 1_000
const AT_ONCE = 50
const STRETCHES = 100
/** The revision of a cursor behind a job's last. */
const END = Number.MAX_SAFE_INTEGER

/** A cursor is the last job looked at, and the revision it was read to. */
export async function byCorrelation(parts: ReadParts, query: Query): Promise<EventPage> {
  const { correlationId, limit, tenant } = query
  const marks = await marksFor(parts, query)
  const own = idDigits(correlationId)
  const found: Event[] = []
  let [id, rev] = query.cursor === undefined ? ['', 0] : placeOf(query.cursor)
  let page = nothing(0, 0)
  for (let looked = 0; ; looked += AT_ONCE) {
    // The job that the last page ended in is looked at again.
    const ids = await jobsFrom(parts, marks, own, rev === END ? `(${id}` : `[${id}`)
    const { now, purged, logs } = await readLogs(
      parts,
      ids.map((each) => ({ id: each, afterRev: each === id && rev !== END ? rev : 0, most: STRETCHES })),
    )
    page = nothing(now, purged)
    for (const [i, each] of ids.entries()) {
      const log = logs[i]
      const from = each === id && rev !== END ? rev : 0
      const mine = log !== undefined && (tenant === undefined || log.stored.kind.tenant === tenant)
      const read = mine ? eventsAfter(log, from, STRETCHES) : { events: [], isComplete: true }
      for (const event of read.events) {
        if (found.length === limit) return { ...page, events: found, cursor: `${id}.${rev}` }
        ;[id, rev] = [each, event.rev]
        if (event.correlationId === correlationId) found.push(event)
      }
      if (!read.isComplete) return { ...page, events: found, cursor: `${id}.${rev}` }
      ;[id, rev] = [each, END]
    }
    if (ids.length < AT_ONCE) return { ...page, events: found }
    if (looked >= JOBS) return { ...page, events: found, cursor: `${id}.${rev}` }
  }
}

async function marksFor(parts: ReadParts, { tenant, correlationId }: Query): Promise<readonly string[]> {
  if (tenant !== undefined) return [markWord(correlationMark(tenant, correlationId))]
  const { counts } = await readTally(parts)
  const tenants = new Set(counts.map(({ kind }) => parts.kinds.get(kind).tenant))
  return [...tenants].map((each) => markWord(correlationMark(each, correlationId)))
}

/** Digits of jobs that belong to a correlation, in order, each once. */
async function jobsFrom(
  { calls }: ReadParts,
  marks: readonly string[],
  own: string | undefined,
  from: string,
): Promise<readonly string[]> {
  const after = from.slice(1)
  const ids = new Set(own !== undefined && (from.startsWith('(') ? own > after : own >= after) ? [own] : [])
  const args = ['0', after === '' ? '-' : from, '+', String(AT_ONCE), ...marks.map((mark) => `mark:${mark}`)]
  const [, ...lists] = await calls.call('candidates', args)
  for (const each of lists) for (const id of words(each)) ids.add(id)
  return [...ids].sort().slice(0, AT_ONCE)
}

function placeOf(cursor: string): readonly [string, number] {
  const [id = '', rev] = cursor.split('.')
  return [digitsOf(idOf(id)), Number(rev)]
}
