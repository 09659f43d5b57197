/**
 * The rows of a list. They are fixed when the search is made: what is on screen changes in place, a row that no longer matches
 * stays and says so, and what is new waits until somebody wants to see it.
 */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { jobsPage } from '../api/queries.ts'
import type { Job } from '../api/wire.ts'
import type { Sort } from './query.ts'

export interface Row {
  readonly job: Job
  /** It was found, and would not be any more. */
  readonly isGone: boolean
}

export interface Rows {
  readonly rows: readonly Row[]
  /** How many match and are not shown. */
  readonly fresh: number
  readonly show: () => void
  readonly more: (() => void) | undefined
  readonly isReading: boolean
  readonly isPending: boolean
  readonly error: unknown
  /** Jobs that were looked at one by one to find these; undefined where indexes found them. */
  readonly read: number | undefined
  /** And how many of those have an input that is too long to be looked into. */
  readonly tooLong: number
}

const LOOK_EVERY_MS = 3_000
/** Kept in memory. */
const PAGES_MOST = 10

export function useJobs(query: string, sort: Sort): Rows {
  // Another number is another search of the same words.
  const [turn, setTurn] = useState(0)
  const found = useInfiniteQuery({
    queryKey: ['jobs', query, sort, turn],
    queryFn: ({ pageParam, signal }) => jobsPage(query, pageParam, signal, sort),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page, pages) => (pages.length < PAGES_MOST ? page.cursor : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
  })
  const first = found.data?.pages[0]
  // What was found by looking is not looked for again every few seconds.
  const isScan = first?.read !== undefined
  const newest = useQuery({
    queryKey: ['jobs newest', query, turn],
    queryFn: ({ signal }) => jobsPage(query, undefined, signal),
    enabled: first !== undefined && !isScan,
    refetchInterval: LOOK_EVERY_MS,
    gcTime: 0,
  })
  const pages = found.data?.pages
  const rows = useMemo(() => merged(pages?.map(({ jobs }) => jobs) ?? [], newest.data?.jobs), [pages, newest.data])
  const known = useMemo(() => new Set(rows.map(({ job }) => job.id)), [rows])
  const fresh = (newest.data?.jobs ?? []).filter(({ id }) => !known.has(id)).length
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = found
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage])
  return {
    rows,
    fresh,
    show: useCallback(() => setTurn((before) => before + 1), []),
    more: hasNextPage && !isFetchingNextPage ? more : undefined,
    isReading: isFetchingNextPage,
    isPending: found.isPending,
    error: found.error,
    read: isScan ? (pages ?? []).reduce((sum, page) => sum + (page.read ?? 0), 0) : undefined,
    tooLong: (pages ?? []).reduce((sum, page) => sum + (page.tooLong ?? 0), 0),
  }
}

function merged(pages: readonly (readonly Job[])[], newest: readonly Job[] | undefined): readonly Row[] {
  const latest = new Map((newest ?? []).map((job) => [job.id, job]))
  const oldest = newest?.at(-1)
  return pages.flat().map((job) => {
    const now = latest.get(job.id)
    // What the newest page would have shown, did it still match; of later pages nothing is known.
    const isGone =
      newest !== undefined &&
      now === undefined &&
      (newest.length < 100 || oldest === undefined || job.createdAt > oldest.createdAt)
    return { job: now ?? job, isGone }
  })
}
