/** Events that belong together, job by job: those with the correlation as their own, and those in which it was said. */
import { assert } from '../../../core/assert.ts'
import type { Event } from '../../../core/event.ts'
import { digest } from '../../../core/hash.ts'
import { idNumber } from '../../../core/id.ts'
import { correlationMark } from '../../codec/marks.ts'
import type { EventQuery } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import { tenantsOf } from '../names/tenants.ts'
import { type LoadParts, whereabouts } from './load.ts'
import { commitsAt, type Page } from './logs.ts'
import { enqueuedEvent, unloggedIn, type Whereabouts } from './records.ts'
import { eventsIn, type Stretch, stretches } from './stretch.ts'

type Query = Extract<EventQuery, { by: 'correlation' }>

/** Jobs looked at for one page at most, and commits read of each: a longer log goes on on the next page. */
const JOBS = 100
const COMMITS = 50
/** The revision that a cursor has once a job was read to its end: the largest that the column takes. */
const END = 2 ** 31 - 1

/** How far the walk has come: in which job, up to which revision. */
type Place = readonly [job: number, rev: number]

/** A job that was looked at, with the part of its log that was read. `cut`: there is more of it. */
interface Look {
  readonly row: Whereabouts
  readonly log: readonly Stretch[]
  readonly cut: boolean
}

export async function eventsByCorrelation(parts: LoadParts, query: Query): Promise<Page> {
  const { tenant, correlationId, limit } = query
  const after = placeFrom(query.cursor)
  const { looks, end } = await looksAt(parts, query, after)
  const events: Event[] = []
  let last = after
  for (const { row, log, cut } of looks) {
    if (tenant !== undefined && row.kind.tenant !== tenant) continue
    for (const event of eventsAbout(row, log, cut)) {
      if (event.correlationId !== correlationId || (row.id === after[0] && event.rev <= after[1])) continue
      if (events.length === limit) return { events, cursor: last.join('.') }
      events.push(event)
      last = [row.id, event.rev]
    }
    if (cut) return { events, cursor: `${row.id}.${log.at(-1)?.rev}` }
  }
  return { events, cursor: end?.join('.') }
}

/** The next jobs in order; `end`: where they end before all do. */
async function looksAt(
  parts: LoadParts,
  { tenant, correlationId, limit }: Query,
  after: Place,
): Promise<{ readonly looks: readonly Look[]; readonly end: Place | undefined }> {
  const { run, statements } = parts
  const marks = literal((await tenantsOf(parts, tenant)).map((each) => digest(correlationMark(each, correlationId))))
  const most = Math.min(JOBS, limit + 1)
  const first = after[1] === END ? after[0] + 1 : after[0]
  const own = (await run(statements.correlated, [marks, idNumber(correlationId) ?? 0, first, most])).map(([id]) =>
    Number(id),
  )
  const said = (await run(statements.linked, [marks, ...after, most])).map(
    ([id, rev]): Place => [Number(id), Number(rev)],
  )
  const ends: Place[] = []
  if (own.length === most) ends.push([own[most - 1] as number, END])
  if (said.length === most) ends.push(said[most - 1] as Place)
  const end = ends.sort(([a], [b]) => a - b)[0]
  const within = (id: number) => end === undefined || id <= end[0]
  const logs = await logsOf(parts, own.filter(within), after)
  for (const stretch of await commitsAt(
    parts,
    said.filter(([id]) => within(id) && !own.includes(id)),
  )) {
    const { id } = stretch.birth
    logs.set(id, [...(logs.get(id) ?? []), stretch])
  }
  const rows = await whereabouts(parts, [...logs.keys()])
  const looks = [...rows.values()]
    .sort((a, b) => a.id - b.id)
    .map((row) => {
      const log = logs.get(row.id) ?? []
      return { row, log, cut: own.includes(row.id) && log.length === COMMITS }
    })
  return { looks, end }
}

/** The beginnings of logs; of the job that the last page stopped at, what comes after that. */
async function logsOf({ run, kinds, statements }: LoadParts, ids: readonly number[], [job, rev]: Place) {
  const logs = new Map<number, Stretch[]>(ids.map((id) => [id, []]))
  const others = ids.filter((id) => id !== job)
  const rows = others.length === 0 ? [] : await run(statements.logs, [literal(others), COMMITS])
  if (logs.has(job)) rows.push(...(await run(statements.log, [job, rev, COMMITS])))
  for (const stretch of await stretches(kinds, rows)) logs.get(stretch.birth.id)?.push(stretch)
  return logs
}

/** Claim and heartbeats that only the lease has come after all commits: where the log was cut they are left for a later page. */
const eventsAbout = (row: Whereabouts, log: readonly Stretch[], cut: boolean): readonly Event[] => [
  enqueuedEvent(row),
  ...log.flatMap(eventsIn),
  ...(cut ? [] : unloggedIn(row)),
]

function placeFrom(cursor: string | undefined): Place {
  const [job, rev] = cursor === undefined ? [0, 0] : cursor.split('.').map(Number)
  assert(Number.isSafeInteger(job) && Number.isSafeInteger(rev), `not a cursor of this store: ${cursor}`)
  return [job as number, rev as number]
}
