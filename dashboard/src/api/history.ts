/** A job's log, as far as a page needs it: the newest, read once, and afterwards only what has come. */
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, queryOf, segment } from './http.ts'
import type { JobEvent } from './wire.ts'

/** A log may have a hundred thousand; who needs all of them has `pawl jobs events`. */
const EVENTS_MOST = 2_000
const PAGE = 1_000

export interface History {
  readonly events: readonly JobEvent[]
  /** From the first on. */
  readonly isWhole: boolean
}

export function useHistory(id: string, rev: number | undefined) {
  const client = useQueryClient()
  return useQuery({
    queryKey: ['history', id, rev],
    queryFn: () => readHistory(id, rev ?? 0, knownOf(client, id)),
    enabled: rev !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  })
}

/** What was read of it before. */
function knownOf(client: QueryClient, id: string): History | undefined {
  const read = client.getQueriesData<History>({ queryKey: ['history', id] }).map(([, history]) => history)
  return read.reduce((best, each) => (lastRev(each) > lastRev(best) ? each : best), undefined)
}

const lastRev = (history: History | undefined): number => history?.events.at(-1)?.rev ?? 0

async function readHistory(id: string, rev: number, known: History | undefined): Promise<History> {
  const first = Math.max(0, rev - EVENTS_MOST)
  // Revisions that were compacted away have no events: a log that begins later may be whole all the same.
  const isKnown = known !== undefined && lastRev(known) >= first
  const events = isKnown ? [...known.events] : []
  let after: number | undefined = isKnown ? lastRev(known) : first
  while (after !== undefined) {
    const page: { readonly events: readonly JobEvent[]; readonly next?: number } = await ask(
      `/v1/jobs/${segment(id)}/events${queryOf({ afterRev: after, limit: PAGE })}`,
    )
    events.push(...page.events)
    after = events.length < 2 * EVENTS_MOST ? page.next : undefined
  }
  return { events: events.slice(-EVENTS_MOST), isWhole: first === 0 && (isKnown ? known.isWhole : true) }
}
