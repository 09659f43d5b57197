/** What runs by the clock, as it is asked for and told. */
import { useQuery } from '@tanstack/react-query'
import { ask, queryOf, segment } from './http.ts'
import type { Moment } from './wire.ts'

export interface Schedule {
  readonly name: string
  readonly type: string
  readonly queue?: string
  /** Either a pattern on the clock of a time zone, or so often. */
  readonly cron?: string
  readonly timeZone?: string
  readonly everyMs?: number
  readonly catchUp: string
  readonly jitterMs: number
  readonly paused: boolean
  readonly next?: Moment
  readonly last?: Moment
  /** Times that never got their job. */
  readonly missed: number
  readonly source: 'code' | 'hand'
  /** Of one that is looked at by itself. */
  readonly input?: unknown
  readonly masked?: boolean
}

interface SchedulesAnswer {
  readonly schedules: readonly Schedule[]
  readonly cursor?: string
}

const LOOK_EVERY_MS = 3_000
const LOOK_SELDOM_MS = 30_000
/** Shown at most; the rest is found by name. */
const SHOWN_MOST = 500
const NEXT_SHOWN = 5

export const useSchedules = () =>
  useQuery({
    queryKey: ['schedules'],
    queryFn: () => ask<SchedulesAnswer>(`/v1/schedules${queryOf({ limit: SHOWN_MOST })}`),
    refetchInterval: LOOK_EVERY_MS,
  })

/** Names of those that have missed times. */
export const useMissed = (enabled: boolean) =>
  useQuery({
    queryKey: ['schedules', 'missed'],
    queryFn: async () =>
      (await ask<SchedulesAnswer>(`/v1/schedules${queryOf({ limit: SHOWN_MOST })}`)).schedules
        .filter(({ missed }) => missed > 0)
        .map(({ name }) => name),
    refetchInterval: LOOK_SELDOM_MS,
    enabled,
  })

export const useSchedule = (name: string) =>
  useQuery({
    queryKey: ['schedules', name],
    queryFn: () => ask<Schedule>(`/v1/schedules/${segment(name)}`),
    refetchInterval: LOOK_EVERY_MS,
  })

/** Its next times. `after`: the last that was dealt with, by which it is known when to ask again. */
export const useNextTimes = (name: string, after: Moment | undefined) =>
  useQuery({
    queryKey: ['schedules', name, 'next', after],
    queryFn: async () =>
      (
        await ask<{ readonly next: readonly Moment[] }>(
          `/v1/schedules/${segment(name)}/next${queryOf({ count: NEXT_SHOWN })}`,
        )
      ).next,
  })
