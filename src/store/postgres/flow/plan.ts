/** What core made of a look, as `flow_apply` takes it. The names are explained there. */
import { atKey, atQueue, type Flow, PATIENCE_MS, type Place } from '../../../core/flow/hall.ts'
import type { LetIn } from '../../../core/flow/let-in.ts'
import { isOutOfPatience, oldestFirst, takenBack } from '../../../core/flow/take-back.ts'
import { idNumber } from '../../../core/id.ts'
import type { JobId, Priority, Time } from '../../../core/job.ts'
import type { HallSeen } from './hall-seen.ts'
import type { Seen } from './seen.ts'

interface JobRow {
  readonly i: number
  readonly f: number
  readonly n?: Time | undefined
}

export interface Plan {
  readonly a: readonly number[]
  readonly k: readonly {
    readonly i: number
    readonly v: number
    readonly w: Time | undefined
    readonly s: number
    readonly n: number
    readonly c: readonly number[]
  }[]
  readonly f: readonly {
    readonly i: number
    readonly v: number
    readonly p: number
    readonly w: Place | undefined
    readonly n: Time | undefined
  }[]
  readonly q: readonly { readonly i: number; readonly z: boolean }[]
  readonly s: readonly { readonly i: number; readonly n: number }[]
  readonly l: readonly JobRow[]
  readonly b: readonly JobRow[]
  readonly g: readonly { readonly p: Place; readonly n: Priority }[]
  readonly m: readonly number[]
  readonly o: readonly number[]
  readonly u: readonly number[]
}

/** Of anything that one look looks at. */
export const MOST = 100

/** Jobs that must leave their lane: those of keys that are shut or beyond their gate, and of queues that were paused; for the ticker also who stood too long. */
export function taking(hall: HallSeen, { k, s }: Seen, isTicker: boolean): readonly JobRow[] {
  const back = new Map<number, JobRow>((s ?? []).map(([i, f]) => [i, { i, f }]))
  for (const name of k.map(String)) {
    const must = new Set(goingBack(hall, name))
    for (const { job, flow } of hall.key(name).standing) if (must.has(job)) back.set(...byNumber(jobRow(job, flow)))
  }
  if (isTicker) for (const row of givingWay(hall, k)) if (!back.has(row.i)) back.set(...byNumber(row))
  return [...back.values()]
}

const byNumber = (row: JobRow): [number, JobRow] => [row.i, row]

/** Who stood too long, the longest first: the flow of one that gives way waits nowhere any more, and then nobody is in its way. */
function givingWay(hall: HallSeen, keys: readonly number[]): readonly JobRow[] {
  const stood = keys.flatMap((key) => hall.key(String(key)).standing.map((slot) => ({ ...slot, key: String(key) })))
  const gone = new Set<string>()
  const rows: JobRow[] = []
  for (const slot of stood.filter((each) => isOutOfPatience(each, hall.now)).sort(oldestFirst)) {
    if (!isInTheWay(hall, slot.key, slot.flow, gone)) continue
    gone.add(String(slot.flow))
    rows.push({ ...jobRow(slot.job, slot.flow), n: hall.now + PATIENCE_MS })
  }
  return rows
}

/** Who must go for the key's sake, of the newest: of those between them and the oldest a look says nothing. */
const goingBack = (hall: HallSeen, name: string): readonly JobId[] =>
  takenBack(hall.key(name), hall.key(name).standing.slice(0, MOST), hall.now)

/** Whether another flow, but for those that are gone, waits for what a job of this one has of the key. */
const isInTheWay = (hall: HallSeen, key: string, flow: number, gone: ReadonlySet<string>): boolean =>
  hall
    .prioritiesAt(atKey(key))
    .some((priority) => hall.waitingAt(atKey(key), priority).some((name) => name !== String(flow) && !gone.has(name)))

/** Nothing but taking back. What has arrived stays so: the next look has more room. */
export const takingPlan = (hall: HallSeen, { k }: Seen, b: readonly JobRow[]): Plan => ({
  ...NOTHING,
  k: k.map((id) => keyRow(hall, String(id), undefined)),
  b,
})

export function lettingPlan(hall: HallSeen, seen: Seen, letIn: LetIn): Plan {
  const { a, k } = seen
  const { admitted, wakes, fed } = letIn
  const flows = letIn.flows.map((flow) => leftOff(hall, flow))
  const moved = flows.filter(({ name, waitsAt }) => waitsAt !== undefined && waitsAt !== hall.flow(name).waitsAt)
  const joined = moved.filter(({ waitsAt, priority }) => !hall.isWaitedAt(waitsAt as Place, priority))
  const keys = new Set([
    ...k.map(String),
    ...admitted.flatMap((each) => each.keys),
    ...flows.flatMap(({ waitsAt }) => numbersAt('key', waitsAt)).map(String),
  ])
  const queues = new Set([
    ...admitted.map(({ flow }) => hall.flow(flow).queue),
    ...flows.flatMap(({ waitsAt }) => numbersAt('queue', waitsAt)).map(String),
  ])
  const again = [...letIn.again, ...hall.cutOff.places, ...overfull(hall, seen)]
  return {
    a,
    k: [...keys].map((name) => keyRow(hall, name, wakes.get(name))),
    f: flows.map((flow) => flowRow(hall, flow)),
    q: [...queues].map((queue) => ({ i: Number(queue), z: hall.isPaused(queue) })),
    s: [...new Set(admitted.map(({ flow }) => hall.flow(flow).lane))].map((lane) => ({
      i: Number(lane),
      n: hall.standing(lane),
    })),
    l: admitted.map(({ job, flow }) => jobRow(job, Number(flow))),
    b: [],
    g: [...fed, ...joined.map(({ waitsAt, priority }) => ({ place: waitsAt as Place, priority }))].map(
      ({ place, priority }) => ({ p: place, n: priority }),
    ),
    m: [...new Set(again.flatMap((place) => numbersAt('key', place)))],
    o: [...new Set(again.flatMap((place) => numbersAt('queue', place)))],
    u: [...new Set(moved.flatMap(({ waitsAt }) => numbersAt('key', waitsAt)))],
  }
}

/** Places with jobs that should be gone, and that somebody has locked at this moment: should they stay, they are come back for. */
const overfull = (hall: HallSeen, { k, q, s }: Seen): readonly Place[] => [
  ...k
    .map(String)
    .filter((name) => goingBack(hall, name).length > 0)
    .map(atKey),
  ...(s === null ? [] : q.map(String).map(atQueue)),
]

/** The numbers of places of one sort. */
export const numbersAt = (sort: 'key' | 'lane' | 'queue', place: Place | undefined): readonly number[] =>
  place?.startsWith(`${sort} `) === true ? [Number(place.slice(sort.length + 1))] : []

/** Of a flow all of whose jobs were let in that were seen there are more. */
const leftOff = (hall: HallSeen, flow: Flow): Flow =>
  flow.waitsAt === undefined && hall.cutOff.flows.has(flow.name) ? { ...flow, nextAt: hall.now } : flow

const jobRow = (job: JobId, flow: number): JobRow => ({ i: idNumber(job) as number, f: flow })

function keyRow(hall: HallSeen, name: string, wakeAt: Time | undefined): Plan['k'][number] {
  const { id, version, wakeAt: before, count, window, spends } = hall.key(name)
  const times = [wakeAt, before !== undefined && before > hall.now ? before : undefined].filter(
    (at) => at !== undefined,
  )
  const w = times.length === 0 ? undefined : Math.min(...times)
  return { i: id, v: version, w, s: count.spent, n: window, c: spends }
}

const flowRow = (hall: HallSeen, { name, pass, waitsAt, nextAt }: Flow): Plan['f'][number] => ({
  i: Number(name),
  v: hall.seen(name).version,
  p: pass,
  w: waitsAt,
  n: nextAt,
})

const NOTHING: Plan = { a: [], k: [], f: [], q: [], s: [], l: [], b: [], g: [], m: [], o: [], u: [] }
