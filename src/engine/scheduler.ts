/**
 * Makes the jobs of schedules whose time has come. Any number of schedulers may run at once: the store's keys see to it that a
 * slot has one job, and who comes second moves on. A job is enqueued first and the schedule moves then; who dies in between
 * leaves a slot that is asked for again, and answered with the job it has.
 */

import type { Time } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Refusal } from '../core/refusal.ts'
import { dueOf, isDue } from '../core/schedule.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Duty } from './duty.ts'
import type { Engine } from './engine.ts'
import { type KeptSchedule, kept, Schedules, timesOf } from './schedules.ts'

export const SCHEDULER_DEFAULTS = {
  everyMs: 1_000,
} as const

const PAGE = 500

export interface SchedulerParts {
  readonly engine: Pick<Engine, 'settings' | 'now' | 'enqueue'>
  readonly timers: Timers
  readonly log: Log
  /** The ticker's, which looks. Absent: this process is always on duty. */
  readonly duty?: Pick<Duty, 'isMine'> | undefined
}

export function scheduler({ engine, timers, log, duty }: SchedulerParts): Service {
  const schedules = new Schedules(engine)
  const round = async (signal: AbortSignal) => {
    if (duty?.isMine === false) return
    let after = ''
    for (;;) {
      const [page] = await engine.settings([{ op: 'list', collection: 'schedule', after, limit: PAGE }])
      const settings = page?.settings ?? []
      for (const setting of settings) {
        if (signal.aborted) return
        await look(schedules, kept(setting), engine.now(), log)
      }
      if (settings.length < PAGE) return
      after = settings.at(-1)?.key ?? after
    }
  }
  return service({ name: 'scheduler', everyMs: SCHEDULER_DEFAULTS.everyMs, timers, log, round })
}

/**
 * A schedule whose type nobody has announced stays where it is: its slots are counted once somebody has. To walk through them
 * every second, ten thousand of them after some hours, would leave no time for anything else.
 */
async function look(schedules: Schedules, mine: KeptSchedule, now: Time, log: Log): Promise<void> {
  const { tenant, schedule } = mine
  try {
    if (!isDue(schedule, now)) return
    const refusal = schedule.paused ? undefined : await schedules.unheardOf(tenant, schedule)
    if (refusal !== undefined) return warned(mine, refusal, log)
    const due = dueOf(schedule, timesOf(schedule), now)
    if (due === undefined) return
    const { done, lost, left } = await fireAll(schedules, mine, due.slots, log)
    await schedules.moved(mine, {
      ...schedule,
      // What could not be made yet is asked for again; what was missed before it is counted once.
      next: left ?? due.next,
      last: done ?? schedule.last,
      missed: schedule.missed + due.missed + lost,
    })
  } catch (error) {
    log.warn('a schedule could not be looked after', { tenant, schedule: schedule.name, reason: reasonOf(error) })
  }
}

interface Fired {
  /** The last slot that has its job. */
  readonly done: Time | undefined
  /** Slots whose job no store would take. */
  readonly lost: number
  /** The first slot that is to be asked for again. */
  readonly left: Time | undefined
}

async function fireAll(
  schedules: Schedules,
  { tenant, schedule }: KeptSchedule,
  slots: readonly Time[],
  log: Log,
): Promise<Fired> {
  let done: Time | undefined
  let lost = 0
  for (const slot of slots) {
    const answer = await schedules.fire(tenant, schedule, slot)
    if (answer.ok || answer.refusal.code === HAS_ITS_JOB) {
      done = slot
      continue
    }
    warned({ tenant, schedule }, answer.refusal, log)
    if (PASSING.has(answer.refusal.code)) return { done, lost, left: slot }
    lost += 1
  }
  return { done, lost, left: undefined }
}

const warned = (
  { tenant, schedule }: Pick<KeptSchedule, 'tenant' | 'schedule'>,
  { code, message }: Refusal,
  log: Log,
): void =>
  log.warn('a schedule’s job could not be enqueued', { tenant, schedule: schedule.name, code, reason: message })

/** An earlier form of the schedule has made it. */
const HAS_ITS_JOB = 'REQUEST_ID_REUSED'
/** A worker may be about to announce the type; a transaction will end; a store will have room. */
const PASSING: ReadonlySet<string> = new Set(['NOT_FOUND', 'KEY_BUSY', 'OVERLOADED', 'UNAVAILABLE'])
