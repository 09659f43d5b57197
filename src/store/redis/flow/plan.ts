/** What core made of a look, as `apply.lua` takes it. */
import type { Flow, Place } from '../../../core/flow/hall.ts'
import type { LetIn } from '../../../core/flow/let-in.ts'
import { afterGivingWay, isOutOfPatience, takenBack } from '../../../core/flow/take-back.ts'
import type { JobId, Time } from '../../../core/job.ts'
import { digitsOf } from '../job/id-text.ts'
import { timeWord } from '../job/job-text.ts'
import type { HallSeen } from './hall-seen.ts'

interface Plan {
  /** Arrivals that were seen. */
  readonly arrivals: HallSeen['arrivals']
  /** Keys whose versions are compared, each with when to look at it again. */
  readonly keys: ReadonlyMap<string, Time | undefined>
  readonly flows: readonly Flow[]
  readonly admitted: LetIn['admitted']
  readonly back: readonly TakenBack[]
  readonly fed: LetIn['fed']
  /** What is to be looked at again, as an arrival. */
  readonly again: readonly string[]
}

/** A job that must leave its lane. `givesWay`: only because others wait for what it holds. */
export interface TakenBack {
  readonly job: JobId
  readonly givesWay: string | undefined
}

/** As many as one look takes up. */
const MOST = 100

/** Jobs that must leave their lane: those of keys that are shut or beyond their gate, and of queues that were paused; and who stood too long. */
export function taking(hall: HallSeen): readonly TakenBack[] {
  const { now, back, places } = hall
  const found = new Map<JobId, TakenBack>()
  for (const each of back) {
    if (each.why === 'paused') found.set(each.job, { job: each.job, givesWay: undefined })
    else if (isOutOfPatience(each, now)) found.set(each.job, { job: each.job, givesWay: each.flow })
  }
  for (const name of keysAmong(places)) {
    const key = hall.key(name)
    for (const job of takenBack(key, key.standing, now)) found.set(job, { job, givesWay: undefined })
  }
  return [...found.values()].slice(0, MOST)
}

/** Nothing but taking back. What has arrived stays so: the next look has more room. */
export function takingPlan(hall: HallSeen, back: readonly TakenBack[]): Plan {
  const giving = new Set(back.flatMap(({ givesWay }) => givesWay ?? []))
  const flows = [...giving].filter((name) => hall.knows(name)).map((name) => afterGivingWay(hall.flow(name), hall.now))
  const keys = new Map(keysAmong(hall.places).map((name) => [name, hall.key(name).wakeAt] as const))
  return { arrivals: [], keys, flows, admitted: [], back, fed: [], again: [] }
}

export function lettingPlan(hall: HallSeen, { admitted, wakes, fed, ...letIn }: LetIn): Plan {
  const flows = letIn.flows.map((flow) => leftOff(hall, flow))
  const names = new Set([
    ...keysAmong(hall.places),
    ...admitted.flatMap(({ keys }) => keys),
    ...keysAmong(flows.map(({ waitsAt }) => waitsAt)),
  ])
  const keys = new Map([...names].map((name) => [name, wakeOf(hall, name, wakes.get(name))] as const))
  const again = [...new Set([...letIn.again, ...hall.cutOff.places])].map(arrivalOf)
  return { arrivals: hall.arrivals, keys, flows, admitted, back: [], fed, again }
}

/** The names of the keys among places. */
const keysAmong = (places: readonly (Place | undefined)[]): readonly string[] =>
  places.flatMap((place) => (place?.startsWith('key ') === true ? [place.slice('key '.length)] : []))

const arrivalOf = (place: Place): string => `${place[0]}${place.slice(place.indexOf(' ') + 1)}`

/** Of a flow all of whose jobs were let in that were seen there are more. */
const leftOff = (hall: HallSeen, flow: Flow): Flow =>
  flow.waitsAt === undefined && hall.cutOff.flows.has(flow.name) ? { ...flow, nextAt: hall.now } : flow

function wakeOf(hall: HallSeen, name: string, wakeAt: Time | undefined): Time | undefined {
  const before = hall.key(name).wakeAt
  const times = [wakeAt, before].filter((at) => at !== undefined && (at === wakeAt || at > hall.now)) as Time[]
  return times.length === 0 ? undefined : Math.min(...times)
}

export function planWords(hall: HallSeen, plan: Plan): readonly string[] {
  const { arrivals, keys, flows, admitted, back, fed, again } = plan
  const names = [...keys.keys()]
  const entered = new Map(admitted.map(({ flow }) => [hall.flow(flow).lane, hall.seen(flow)]))
  const queues = new Set([
    ...admitted.map(({ flow }) => hall.flow(flow).queue),
    ...flows.flatMap(({ waitsAt, queue }) => (waitsAt?.startsWith('queue ') === true ? [queue] : [])),
  ])
  return [
    rows(arrivals),
    rows(names.map((name) => keyRow(hall, name, keys.get(name)))),
    rows(names.flatMap((name) => hall.key(name).spends.map((spend) => [name, spend]))),
    rows(flows.map((flow) => flowRow(hall, flow))),
    rows([...queues].map((queue) => [queue, hall.isPaused(queue) ? '1' : '0'])),
    rows([...entered.values()].map(({ flow, laneWord, standing }) => [flow.queue, laneWord, String(standing)])),
    rows(admitted.map(({ job, flow }) => [digitsOf(job), flow, readyAtOf(hall, flow, job)])),
    rows(back.map(({ job, givesWay }) => [digitsOf(job), givesWay === undefined ? '1' : '0'])),
    rows(fed.map(({ place, priority }) => [`${priority} ${place}`])),
    rows(again.map((what) => [what])),
  ].flat()
}

const rows = (each: readonly (readonly string[])[]): readonly string[] => [String(each.length), ...each.flat()]

function keyRow(hall: HallSeen, name: string, wakeAt: Time | undefined): readonly string[] {
  const { version, count, window } = hall.key(name)
  return [name, version, timeWord(wakeAt), String(count.spent), String(window)]
}

const flowRow = (hall: HallSeen, { name, pass, waitsAt, nextAt }: Flow): readonly string[] => [
  name,
  hall.seen(name).version,
  String(pass),
  waitsAt ?? '',
  timeWord(nextAt),
]

const readyAtOf = (hall: HallSeen, flow: string, job: JobId): string =>
  timeWord(hall.seen(flow).held.find((held) => held.job === job)?.readyAt)
