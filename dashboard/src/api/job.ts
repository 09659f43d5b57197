/** One job. Its record is asked for again and again; what it carries, which may be megabytes, once and when it is another. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ask, segment } from './http.ts'
import type { ExplainAnswer, Job } from './wire.ts'

const LOOK_EVERY_MS = 3_000
const LOOK_SELDOM_MS = 10_000

/** `isFollowed`: the page hears what happens to it, and asks by itself. */
export function useJob(id: string, isFollowed = false) {
  const {
    data: record,
    error,
    isStale,
    isFetchedAfterMount,
  } = useQuery({
    queryKey: ['job', id],
    queryFn: () => ask<Job>(`/v1/jobs/${segment(id)}?policy=true&bodies=`, { isExact: true }),
    refetchInterval: ({ state }) => (state.data?.endedAt === undefined && !isFollowed ? LOOK_EVERY_MS : LOOK_SELDOM_MS),
  })
  const carried = record === undefined ? undefined : carriedBy(record)
  const {
    data: bodies,
    error: wrong,
    isPlaceholderData: isBehind,
  } = useQuery({
    queryKey: ['carried', id, carried] as const,
    queryFn: async () => {
      const { input, output } = await ask<Job>(`/v1/jobs/${segment(id)}`, { isExact: true })
      return { input, output }
    },
    enabled: carried !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // Of this job: what another carries has nothing to do beside its record.
    placeholderData: (before, asked) => (asked?.queryKey[1] === id ? before : undefined),
  })
  const data = useMemo((): Job | undefined => {
    if (record === undefined || carried === undefined) return record
    return bodies && { ...record, ...bodies, isBehind }
  }, [record, carried, bodies, isBehind])
  return { data, error: error ?? wrong, isAsOfNow: (isFetchedAfterMount || !isStale) && !isBehind }
}

/**
 * What its record says of it: sizes and digests, and by which revision a duplicate has brought another input, since two inputs may
 * be alike in size; undefined where it carries nothing, or nothing that may be seen.
 */
function carriedBy({ masked, strippedAt, input, newer, result }: Job): string | undefined {
  if (masked === true || strippedAt !== undefined) return undefined
  const carried = [input, newer?.input, result]
  if (carried.every((each) => each === undefined)) return undefined
  return JSON.stringify([...carried, newer?.rev])
}

/** Asked anew with each change of the state, and besides now and then: progress alone explains nothing else. */
export const useExplain = (id: string, job: Job | undefined) =>
  useQuery({
    queryKey: ['explain', id, job?.state, job?.attempt, job?.generation],
    queryFn: () => ask<ExplainAnswer>(`/v1/jobs/${segment(id)}/explain`),
    enabled: job !== undefined,
    refetchInterval: job?.endedAt === undefined ? LOOK_SELDOM_MS : false,
    placeholderData: keepPreviousData,
  })
