/**
 * The rows of a list. They are fixed when the search is made: what is on screen changes in place, a row that no longer matches
 * stays and says so, and what is new waits until somebody wants to see it.
 */
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { serverNow } from '../api/http.ts'
import { jobsPage, newestIds, theseJobs } from '../api/jobs.ts'
import { type Extent, Listing } from './listing.ts'
import { parseSearch, type Sort } from './query.ts'

export interface Rows extends Extent {
  readonly listing: Listing
  /** Nothing is known of it yet. */
  readonly isPending: boolean
  /** How many match and are not shown. */
  readonly fresh: number
  readonly show: () => void
}

const LOOK_EVERY_MS = 3_000
/** Rows of a screen, before it is known how many that are. */
const SCREENFUL = 30

export function useJobs(query: string, sort: Sort): Rows {
  // Another number is another search of the same words.
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn is another list
  const { listing, since } = useMemo(() => begun(query, sort), [query, sort, turn])
  useEffect(() => {
    listing.see(0, SCREENFUL)
    return () => listing.end()
  }, [listing])
  const extent = useSyncExternalStore(listing.watch, listing.extent)
  const { count, isEnd, isStopped, error, read } = extent
  const isPending = count === 0 && !isEnd && !isStopped && error === undefined
  useQuery({
    queryKey: ['jobs refreshed', query, sort, turn],
    queryFn: async () => {
      await listing.refresh()
      return null
    },
    enabled: !isPending,
    refetchInterval: LOOK_EVERY_MS,
    retry: false,
    gcTime: 0,
  })
  // What was found by looking at one after the other is not looked for again every few seconds: but for what has come since.
  const from = read === undefined ? undefined : since
  const { data: newest = [] } = useQuery({
    queryKey: ['jobs newest', query, sort, turn, from],
    queryFn: ({ signal }) => newestIds(query, from, signal),
    enabled: !isPending,
    refetchInterval: LOOK_EVERY_MS,
    gcTime: 0,
  })
  return {
    ...extent,
    listing,
    isPending,
    // A list that was read less far than what is newest now tells nothing of what is new.
    fresh: from !== undefined || isEnd || count >= newest.length ? newest.filter((id) => !listing.has(id)).length : 0,
    show: useCallback(() => setTurn((before) => before + 1), []),
  }
}

function begun(query: string, sort: Sort) {
  const listing = new Listing({
    page: (cursor, signal) => jobsPage(query, cursor, signal, sort),
    these: (ids, signal) => theseJobs(ids, withoutInputs(query), signal),
  })
  return { listing, since: new Date(serverNow()).toISOString() }
}

/** Inputs never change: they need not be looked into again to know whether a job still matches. */
function withoutInputs(query: string): string {
  const search = parseSearch(query)
  if (!search.ok) return query
  return search.terms
    .filter(({ field }) => !field.startsWith('input.'))
    .map(({ text }) => text)
    .join(' ')
}
