/** Logs of many jobs at once, as far as they are short. */
import type { Event } from '../../../core/event.ts'
import type { LoadItem } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { LoadParts } from './load.ts'
import { enqueuedEvent, unloggedIn, type Whereabouts } from './records.ts'
import { eventsIn, type Stretch, stretches } from './stretch.ts'

/** The whole logs of those that want them and have no longer ones, by job. Hardly anybody does: then it costs nothing. */
export async function shortLogs(
  { run, kinds, statements }: LoadParts,
  items: readonly LoadItem[],
  rows: readonly (Whereabouts | undefined)[],
): Promise<ReadonlyMap<number, readonly Event[]>> {
  const found = new Map<number, readonly Event[]>()
  const wanting: Whereabouts[] = []
  let longest = 0
  for (const [i, { log }] of items.entries()) {
    const row = rows[i]
    if (log === undefined || row === undefined) continue
    wanting.push(row)
    longest = Math.max(longest, log)
  }
  if (wanting.length === 0) return found
  const commits = new Map<number, Stretch[]>()
  const ids = literal([...new Set(wanting.map(({ id }) => id))])
  for (const commit of await stretches(kinds, await run(statements.logs, [ids, longest]))) {
    const { id } = commit.birth
    const some = commits.get(id)
    if (some === undefined) commits.set(id, [commit])
    else some.push(commit)
  }
  for (const row of wanting) {
    const own = commits.get(row.id) ?? []
    const log = [enqueuedEvent(row), ...own.flatMap(eventsIn), ...unloggedIn(row)]
    if (own.length < longest && log.length <= longest) found.set(row.id, log)
  }
  return found
}
