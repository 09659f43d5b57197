/**
 * Schedule documents: what is to run when. Their names are the tenant's. Everything that changes one compares and swaps it, and
 * a process that loses looks again: an edit takes effect at once, and a slot that was dealt with stays dealt with.
 */
import type { Time } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import {
  type Definition,
  intervalTimes,
  redefined,
  type Schedule,
  type ScheduleTimes,
  slotRequest,
  slotRunsAt,
} from '../core/schedule.ts'
import type { Setting } from '../store/store.ts'
import { cronTimes } from './cron.ts'
import { countOf, pageOf, prefixOf } from './documents.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from './engine.ts'
import { JobTypes } from './job-types.ts'

const TRIES = 10

export interface KeptSchedule {
  readonly tenant: string
  readonly schedule: Schedule
  readonly rev: number
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  /** Where there are more: the name to go on behind. */
  readonly cursor: string | undefined
}

type Around = Pick<Engine, 'settings' | 'now' | 'enqueue'>

export class Schedules {
  readonly #engine: Around
  readonly #types: JobTypes

  constructor(engine: Around, types: JobTypes = new JobTypes(engine)) {
    this.#engine = engine
    this.#types = types
  }

  /** Makes it, or makes it another one. What it has done, and whether it is paused, stays unless it is said. */
  define(tenant: string, definition: Definition): Promise<Schedule> {
    const times = timesOf(definition)
    return this.#change(tenant, definition.name, (before) => redefined(before, definition, times, this.#engine.now()))
  }

  /** Slots that pass while it is paused are missed. */
  async setPaused(tenant: string, name: string, paused: boolean): Promise<Schedule | undefined> {
    if ((await this.find(tenant, name)) === undefined) return undefined
    return this.#change(tenant, name, (before) =>
      before === undefined ? undefined : redefined(before, { ...before, paused }, timesOf(before), this.#engine.now()),
    )
  }

  /** False: there was none. */
  async remove(tenant: string, name: string): Promise<boolean> {
    const key = keyOf(tenant, name)
    if ((await this.find(tenant, name)) === undefined) return false
    await this.#engine.settings([{ op: 'remove', collection: 'schedule', key, rev: undefined }])
    return true
  }

  async find(tenant: string, name: string): Promise<Schedule | undefined> {
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'schedule', key: keyOf(tenant, name) }])
    const setting = answer?.settings[0]
    return setting === undefined ? undefined : kept(setting).schedule
  }

  /** In the order of their names. */
  async page(tenant: string, cursor: string | undefined, limit: number): Promise<SchedulePage> {
    const after = cursor === undefined ? prefixOf(tenant) : keyOf(tenant, cursor)
    const { settings, isLast } = await pageOf(this.#engine, 'schedule', tenant, after)
    const schedules = settings.slice(0, limit).map((setting) => kept(setting).schedule)
    const hasMore = settings.length > limit || !isLast
    return { schedules, cursor: hasMore ? schedules.at(-1)?.name : undefined }
  }

  /** All of a tenant's. */
  async all(tenant: string): Promise<readonly Schedule[]> {
    const found: Schedule[] = []
    for (let after = prefixOf(tenant); ; ) {
      const { settings, isLast } = await pageOf(this.#engine, 'schedule', tenant, after)
      found.push(...settings.map((setting) => kept(setting).schedule))
      if (isLast) return found
      after = settings.at(-1)?.key ?? after
    }
  }

  count(tenant: string, most: number): Promise<number> {
    return countOf(this.#engine, 'schedule', tenant, most)
  }

  /** Its job, now and besides: no slot is used up by it. */
  async runNow(
    tenant: string,
    schedule: Schedule,
    asked: { readonly actor: string; readonly requestId: string },
  ): Promise<EnqueueAnswer> {
    const request = await this.#request(tenant, schedule)
    if ('code' in request) return { ok: false, refusal: request }
    return this.#enqueue({ ...request, ...asked })
  }

  /** The job of a slot. There is one, however often and by whomever this is asked. */
  async fire(tenant: string, schedule: Schedule, slot: Time): Promise<EnqueueAnswer> {
    const request = await this.#request(tenant, schedule)
    if ('code' in request) return { ok: false, refusal: request }
    const { name } = schedule
    return this.#enqueue({
      ...request,
      actor: `schedule:${name}`,
      requestId: slotRequest(name, slot),
      runAt: slotRunsAt(schedule, slot),
    })
  }

  /** Why it has no job yet, where nobody has announced its type. */
  async unheardOf(tenant: string, schedule: Schedule): Promise<Refusal | undefined> {
    const request = await this.#request(tenant, schedule)
    return 'code' in request ? request : undefined
  }

  /** How far it has come. False: somebody else has changed it. */
  async moved({ tenant, schedule, rev }: KeptSchedule, next: Schedule): Promise<boolean> {
    const key = keyOf(tenant, schedule.name)
    const put = { op: 'put', collection: 'schedule', key, text: JSON.stringify(next), rev } as const
    const [answer] = await this.#engine.settings([put])
    return answer?.status === 'ok'
  }

  async #enqueue(request: EnqueueRequest): Promise<EnqueueAnswer> {
    const [answer] = await this.#engine.enqueue([request])
    if (answer === undefined) throw new Error(`nobody answered for ${request.requestId}`)
    return answer
  }

  /** As a worker that knows the type has announced it. */
  async #request(
    tenant: string,
    { name, type, queue, priority, input, flow }: Schedule,
  ): Promise<EnqueueRequest | Refusal> {
    const kind = await this.#types.kind(tenant, type, queue)
    if (kind !== undefined) return { actor: '', kind, priority, input, flow, labels: { [SCHEDULE_LABEL]: name } }
    const message = `Nobody has announced type ${type} of schedule ${name} yet: start a worker that has it.`
    return refuse('NOT_FOUND', { command: 'enqueue', message })
  }

  async #change<T extends Schedule | undefined>(
    tenant: string,
    name: string,
    change: (before: Schedule | undefined) => T,
  ): Promise<T> {
    const key = keyOf(tenant, name)
    const [read] = await this.#engine.settings([{ op: 'get', collection: 'schedule', key }])
    let there = read?.settings[0]
    for (let n = 0; n < TRIES; n += 1) {
      const next = change(there === undefined ? undefined : kept(there).schedule)
      if (next === undefined) return next
      const text = JSON.stringify(next)
      const [answer] = await this.#engine.settings([
        { op: 'put', collection: 'schedule', key, text, rev: there?.rev ?? 0 },
      ])
      if (answer?.status === 'ok') return next
      there = answer?.settings[0]
    }
    throw new Error(`Schedule ${name} was changed by others ${TRIES} times in a row.`)
  }
}

/** By which the jobs of a schedule are found. */
export const SCHEDULE_LABEL = 'schedule'

/** A pattern that is kept has been understood before. */
export function timesOf({ timing }: Pick<Schedule, 'timing'>): ScheduleTimes {
  if ('everyMs' in timing) return intervalTimes(timing.everyMs, timing.anchor)
  const found = cronTimes(timing.cron, timing.timeZone)
  if (!found.ok) throw new TypeError(`cron: ${found.rule}`)
  return found.times
}

/** The next slots, whatever becomes of them. */
export function nextSlots(schedule: Pick<Schedule, 'timing'>, from: Time, most: number): readonly Time[] {
  const times = timesOf(schedule)
  const slots: Time[] = []
  for (let at = times.after(from); at !== undefined && slots.length < most; at = times.after(at)) slots.push(at)
  return slots
}

/** `undefined` does not survive JSON: what is absent is put back. */
export function kept({ key, text, rev }: Setting): KeptSchedule {
  const [tenant] = JSON.parse(key) as readonly [string]
  const { queue, input, next, last, ...rest } = JSON.parse(text) as Schedule
  return { tenant, schedule: { ...rest, queue, input, next, last }, rev }
}

const keyOf = (tenant: string, name: string): string => JSON.stringify([tenant, name])
