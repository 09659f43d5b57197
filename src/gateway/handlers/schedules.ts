/** Schedules of one's own tenant. A token that is bound to queues sees and moves those that say one of them. */
import type { z } from 'zod'
import { PRIORITIES } from '../../core/job.ts'
import type { Schedule } from '../../core/schedule.ts'
import { definitionFrom } from '../../engine/schedule-words.ts'
import { nextSlots, Schedules } from '../../engine/schedules.ts'
import { mustBeTheirs } from '../bound.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import { beyond } from '../caps.ts'
import type { pageQuery } from '../contract/queries.ts'
import type { nextQuery, schedule as schema } from '../contract/schedule-schema.ts'
import { jobToWire } from '../contract/wire.ts'
import { isMasked } from '../masking.ts'
import { Objected, objection, problemOf } from '../problem.ts'
import { priorityOf } from '../words.ts'
import { audited } from './audit.ts'

export const listSchedules: Handler = async (call, parts) => {
  const { limit, cursor } = call.query as z.output<typeof pageQuery>
  const page = await schedulesOf(parts).page(call.token.tenant, cursor, limit)
  const schedules = page.schedules.filter((schedule) => isTheirs(call, schedule))
  return json(200, { schedules: schedules.map(scheduleToWire), cursor: page.cursor })
}

export const showSchedule: Handler = async (call, parts) => shown(call, await mustFind(call, parts))

export const defineSchedule: Handler = async (call, parts) => {
  const { token, kept } = call
  const { priority, ...words } = call.body as z.output<typeof schema>
  const name = nameIn(call)
  const judged = definitionFrom({
    ...words,
    name,
    priority: priorityOf(priority) ?? PRIORITIES.normal,
    input: kept.get('input'),
    source: 'hand',
  })
  if (!judged.ok)
    throw new Objected(
      objection(
        'MALFORMED',
        'The schedule cannot be kept.',
        judged.violations.map(({ field, rule }) => ({ field: `body.${field}`, rule })),
      ),
    )
  if (token.queues !== undefined && words.queue === undefined)
    throw new Objected(objection('FORBIDDEN', 'The token is bound to queues: the schedule must name one of them.'))
  if (words.queue !== undefined) mustBeTheirs(call, words.queue, words.flow)
  const schedules = schedulesOf(parts)
  const there = await schedules.find(token.tenant, name)
  if (there !== undefined && !isTheirs(call, there)) throw forbidden()
  const { schedulesPerTenant } = parts.caps
  if (there === undefined && (await schedules.count(token.tenant, schedulesPerTenant)) >= schedulesPerTenant)
    throw beyond('schedulesPerTenant', parts.caps)
  const kind = await parts.types.kind(token.tenant, words.type, words.queue)
  if (kind !== undefined) await parts.census.admit(kind)
  await parts.census.keep()
  await audited(call, parts, { act: 'schedule.defined', about: name })
  return shown(call, await schedules.define(token.tenant, judged.definition))
}

export const removeSchedule: Handler = async (call, parts) => {
  const schedule = await mustFind(call, parts)
  await audited(call, parts, { act: 'schedule.removed', about: schedule.name })
  await schedulesOf(parts).remove(call.token.tenant, schedule.name)
  return shown(call, schedule)
}

export const nextOfSchedule: Handler = async (call, parts) => {
  const { count } = call.query as z.output<typeof nextQuery>
  const schedule = await mustFind(call, parts)
  const next = nextSlots(schedule, parts.engine.now(), count).map((at) => new Date(at).toISOString())
  return json(200, { name: schedule.name, next })
}

export const pauseSchedule: Handler = (call, parts) => setPaused(call, parts, true)
export const resumeSchedule: Handler = (call, parts) => setPaused(call, parts, false)

export const runSchedule: Handler = async (call, parts) => {
  const schedule = await mustFind(call, parts)
  await audited(call, parts, { act: 'schedule.run', about: schedule.name })
  const { token, requestId } = call
  const asked = { actor: `${token.scope}:${token.name}`, requestId }
  const answer = await schedulesOf(parts).runNow(token.tenant, schedule, asked)
  if (!answer.ok) throw new Objected(problemOf(answer.refusal))
  return json(201, { job: jobToWire(answer.job, false) })
}

async function setPaused(call: Call, parts: Parts, paused: boolean): Promise<Reply> {
  const { name } = await mustFind(call, parts)
  await audited(call, parts, { act: paused ? 'schedule.paused' : 'schedule.resumed', about: name })
  const schedule = await schedulesOf(parts).setPaused(call.token.tenant, name, paused)
  if (schedule === undefined) throw missing(name)
  return shown(call, schedule)
}

async function mustFind(call: Call, parts: Parts): Promise<Schedule> {
  const name = nameIn(call)
  const schedule = await schedulesOf(parts).find(call.token.tenant, name)
  if (schedule === undefined) throw missing(name)
  if (!isTheirs(call, schedule)) throw forbidden()
  return schedule
}

const schedulesOf = ({ engine, types }: Parts): Schedules => new Schedules(engine, types)

const nameIn = ({ params }: Call): string => params['schedule'] ?? ''

const isTheirs = ({ token }: Call, { queue }: Schedule): boolean =>
  token.queues === undefined || (queue !== undefined && token.queues.includes(queue))

const missing = (name: string): Objected => new Objected(objection('NO_ROUTE', `There is no schedule ${name}.`))
const forbidden = (): Objected => new Objected(objection('FORBIDDEN', 'The token is not for this schedule’s queue.'))

/** Its jobs' input is a payload as theirs is. */
const shown = (call: Call, schedule: Schedule): Reply =>
  isMasked(call)
    ? json(200, { ...scheduleToWire(schedule), masked: true })
    : json(200, scheduleToWire(schedule), { input: schedule.input })

const scheduleToWire = ({ timing, next, last, input: _, ...rest }: Schedule): object => ({
  ...rest,
  ...('cron' in timing ? timing : { everyMs: timing.everyMs }),
  next: isoOf(next),
  last: isoOf(last),
})

const isoOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()
