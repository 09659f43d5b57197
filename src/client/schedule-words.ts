/** A schedule as it is told over HTTP, and as it is kept. */
import type { Schedule } from '../core/schedule.ts'

export interface ScheduleOverHttp extends Omit<Schedule, 'timing' | 'next' | 'last' | 'input'> {
  readonly cron?: string
  readonly timeZone?: string
  readonly everyMs?: number
  readonly next?: string
  readonly last?: string
  readonly input?: unknown
}

export function scheduleText({
  cron,
  timeZone = '',
  everyMs = 0,
  next,
  last,
  input,
  ...rest
}: ScheduleOverHttp): string {
  const schedule: Schedule = {
    ...rest,
    timing: cron === undefined ? { everyMs, anchor: 0 } : { cron, timeZone },
    next: next === undefined ? undefined : Date.parse(next),
    last: last === undefined ? undefined : Date.parse(last),
    input: input === undefined ? undefined : JSON.stringify(input),
  }
  return JSON.stringify(schedule)
}

/** What the route takes. When it is next, and what it has done, the gateway knows best. */
export function scheduleWords(text: string): object {
  const { timing, catchUp, cap, jitterMs, type, queue, priority, input, flow, paused } = JSON.parse(text) as Schedule
  const times = 'cron' in timing ? timing : { every: timing.everyMs }
  const body = input === undefined ? undefined : (JSON.parse(input) as unknown)
  return { ...times, catchUp, cap, jitter: jitterMs, type, queue, priority, input: body, flow, paused }
}
