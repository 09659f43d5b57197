/** The events that a request has caused already, by which the engine recognises a word that is said again. */
import type { Event } from '../../../core/event.ts'
import { storable } from '../../codec/text.ts'
import type { LoadItem } from '../../store.ts'
import type { LoadParts } from './load.ts'
import { enqueuedEvent, unloggedIn, type Whereabouts } from './records.ts'
import { eventsIn, stretches } from './stretch.ts'

/** The events that requests have caused, item by item. `rows`: the jobs they are about. */
export async function causedBy(
  parts: LoadParts,
  items: readonly LoadItem[],
  rows: readonly (Whereabouts | undefined)[],
): Promise<readonly (readonly Event[])[]> {
  const asked = items.flatMap(({ requestId }, i) => {
    const row = rows[i]
    return requestId === undefined || row === undefined ? [] : [{ place: i, i: row.id, q: storable(requestId) }]
  })
  const commits = await commitsAskedFor(parts, asked)
  return items.map(({ requestId }, i) => {
    const row = rows[i]
    if (requestId === undefined || row === undefined) return []
    const events = [enqueuedEvent(row), ...(commits.get(i) ?? []).flat(), ...unloggedIn(row)]
    return events.filter((event) => event.requestId === requestId)
  })
}

interface AskedRow {
  readonly place: number
  readonly i: number
  readonly q: string
}

/** Events by place in `asked`. Many requests about one job are mostly found in the same commits: each is decoded once. */
async function commitsAskedFor(
  { run, kinds, statements }: LoadParts,
  asked: readonly AskedRow[],
): Promise<ReadonlyMap<number, readonly (readonly Event[])[]>> {
  const found = new Map<number, (readonly Event[])[]>()
  if (asked.length === 0) return found
  const rows = await run(statements.caused, [JSON.stringify(asked.map(({ i, q }) => ({ i, q })))])
  const read = new Map<string, readonly Event[]>()
  for (const [k, stretch] of (await stretches(kinds, rows)).entries()) {
    const name = `${stretch.birth.id} ${stretch.fromRev}`
    const events = read.get(name) ?? eventsIn(stretch)
    read.set(name, events)
    const place = asked[Number(rows[k]?.at(-1)) - 1]?.place ?? -1
    found.set(place, [...(found.get(place) ?? []), events])
  }
  return found
}
