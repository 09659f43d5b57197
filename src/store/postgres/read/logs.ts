/** Logs of single jobs, a page at a time. */
import type { Event } from '../../../core/event.ts'
import { idNumber } from '../../../core/id.ts'
import { literal } from '../batch/uniform.ts'
import { type LoadParts, whereabouts } from './load.ts'
import { enqueuedEvent, unloggedIn, type Whereabouts } from './records.ts'
import { eventsIn, type Stretch, stretches } from './stretch.ts'

export interface Page {
  readonly events: readonly Event[]
  readonly cursor: string | undefined
}

/** Commits read at a time, at most. */
const COMMITS = 200

export async function eventsOfJob(parts: LoadParts, id: string, afterRev: number, limit: number): Promise<Page> {
  const number = idNumber(id) ?? 0
  const row = number === 0 ? undefined : (await whereabouts(parts, [number])).get(number)
  if (row === undefined) return { events: [], cursor: undefined }
  const events: Event[] = []
  for await (const some of logFrom(parts, row, afterRev, Math.min(COMMITS, limit + 1))) {
    events.push(...some)
    if (events.length > limit) return { events: events.slice(0, limit), cursor: String(events[limit - 1]?.rev) }
  }
  return { events, cursor: undefined }
}

/** A job's whole log, what stands on its lease included. */
export async function logOf(parts: LoadParts, row: Whereabouts): Promise<readonly Event[]> {
  const log: Event[] = []
  for await (const some of logFrom(parts, row, 0, COMMITS)) log.push(...some)
  return log
}

/** The log of a job as it is written, commit by commit. */
export async function commitsOf(parts: LoadParts, id: number): Promise<readonly Stretch[]> {
  const commits: Stretch[] = []
  for await (const commit of commitsFrom(parts, id, 0, COMMITS)) commits.push(commit)
  return commits
}

/** The log after a revision, some events at a time; a commit has at least one. */
async function* logFrom(
  parts: LoadParts,
  row: Whereabouts,
  afterRev: number,
  step: number,
): AsyncGenerator<readonly Event[]> {
  const later = (events: readonly Event[]) => events.filter(({ rev }) => rev > afterRev)
  yield later([enqueuedEvent(row)])
  for await (const commit of commitsFrom(parts, row.id, afterRev, step)) yield later(eventsIn(commit))
  yield later(unloggedIn(row))
}

async function* commitsFrom({ run, kinds, statements }: LoadParts, id: number, afterRev: number, step: number) {
  for (let after = afterRev; ; ) {
    const commits = await stretches(kinds, await run(statements.log, [id, after, step]))
    yield* commits
    after = commits.at(-1)?.rev ?? after
    if (commits.length < step) return
  }
}

/** The commits in which these revisions of these jobs are, each once. */
export async function commitsAt(
  { run, kinds, statements }: LoadParts,
  places: readonly (readonly [job: number, rev: number])[],
): Promise<readonly Stretch[]> {
  if (places.length === 0) return []
  const jobs = literal(places.map(([job]) => job))
  const revs = literal(places.map(([, rev]) => rev))
  return stretches(kinds, await run(statements.commitsAt, [jobs, revs]))
}
