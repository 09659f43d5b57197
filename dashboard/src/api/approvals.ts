/** What waits to be let in, and what was decided about what did. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { useSparingly } from '../words/sparingly.ts'
import { ask, queryOf, segment, serverNow } from './http.ts'
import { useLive } from './live.ts'
import type { JobEvent, JobsAnswer } from './wire.ts'

const LOOK_EVERY_MS = 3_000
const PAGE = 100

/** The longest waiting first, so many pages of them. */
export const usePending = (pages: number) =>
  useQuery({
    queryKey: ['pending', pages],
    queryFn: async () => {
      const jobs: JobsAnswer['jobs'][number][] = []
      let cursor: string | undefined
      for (let n = 0; n < pages; n += 1) {
        const asked = { state: 'pending', order: 'oldest', explain: 'true', limit: PAGE, cursor }
        const page = await ask<JobsAnswer>(`/v1/jobs${queryOf(asked)}`)
        jobs.push(...page.jobs)
        cursor = page.cursor
        if (cursor === undefined) break
      }
      return { jobs, isCut: cursor !== undefined }
    },
    refetchInterval: LOOK_EVERY_MS * pages,
  })

interface EventsAnswer {
  readonly events: readonly JobEvent[]
  readonly cursor?: string
}

/** Whose word the first of a job's events is: it never becomes another. */
export const useEnqueuedBy = (id: string) =>
  useQuery({
    queryKey: ['enqueued-by', id],
    queryFn: async () => {
      const { events } = await ask<EventsAnswer>(`/v1/jobs/${segment(id)}/events?limit=1`)
      const [first] = events
      return first?.rev === 1 ? first.actor : null
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The events that admission leaves. */
const DECIDED = ['admitted', 'denied', 'approval_asked', 'approved'] as const

export interface Decisions {
  /** The newest first. */
  readonly events: readonly JobEvent[]
  /** How far back was looked, in milliseconds since 1970. */
  readonly from: number
}

/** Until a moment that is over, or until now: then they are asked for again whenever one is told of. */
export function useDecisions(before: number | undefined, least: number) {
  const client = useQueryClient()
  const again = useSparingly(useCallback(() => void client.invalidateQueries({ queryKey: DECISIONS }), [client]))
  const isLive = before === undefined
  /** What it took the last time: so that mostly one question is enough. */
  const span = useRef(FIRST_SPAN_MS)
  useLive(
    useCallback(({ type }: JobEvent) => isLive && DECIDED.some((each) => each === type) && again(), [isLive, again]),
  )
  return useQuery({
    queryKey: [...DECISIONS, before ?? 'now', least],
    queryFn: async () => {
      const to = before ?? serverNow() + AHEAD_MS
      const decisions = await decisionsBefore(to, least, span.current)
      span.current = Math.max(SPAN_LEAST_MS, to - decisions.from)
      return decisions
    },
    placeholderData: keepPreviousData,
  })
}

const DECISIONS = ['decisions']
/** Clocks differ a little. */
const AHEAD_MS = 1_000

const FIRST_SPAN_MS = 10 * 60_000
const SPAN_LEAST_MS = 1_000
const GROWS = 8
/** So far back where nothing is found; "Earlier" looks further. */
const BACK_MOST_MS = 31 * 24 * 60 * 60_000
/** From the longest stretch it takes eight to come to the shortest. */
const ASKED_MOST = 12
const EVENTS_PAGE = 500

/**
 * Events are told the oldest first, so the newest are those of a stretch of time that is short enough to be told whole: it grows where
 * there is little, and shrinks where there is too much for one answer.
 */
async function decisionsBefore(before: number, least: number, firstSpan: number): Promise<Decisions> {
  const found: JobEvent[] = []
  let to = before
  let span = firstSpan
  const back = Math.max(0, before - BACK_MOST_MS)
  for (let n = 0; n < ASKED_MOST && found.length < least && to > back; n += 1) {
    const from = Math.max(back, to - span)
    const asked = { type: DECIDED.join(','), from: moment(from), to: moment(to), limit: EVENTS_PAGE }
    const { events, cursor } = await ask<EventsAnswer>(`/v1/events${queryOf(asked)}`)
    if (cursor !== undefined && span > SPAN_LEAST_MS) {
      span = Math.max(SPAN_LEAST_MS, span / GROWS)
      continue
    }
    found.push(...events.toReversed())
    to = from
    span *= GROWS
  }
  return { events: found, from: to }
}

const moment = (at: number): string => new Date(at).toISOString()
