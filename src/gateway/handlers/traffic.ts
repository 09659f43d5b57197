/** `GET /traffic` and `GET /tally`: how much goes on, and how much there is. Both are folded as the feed grows; nothing is scanned. */
import type { z } from 'zod'
import type { State } from '../../core/job.ts'
import type { Tally } from '../../store/store.ts'
import { type Handler, json } from '../call.ts'
import type { TakersAnswer, TallyAnswer, TrafficAnswer, TrafficStep } from '../contract/answers.ts'
import type { trafficQuery } from '../contract/queries.ts'
import { timeToWire } from '../contract/wire.ts'
import { type Bucket, finestSince, WINDOWS, windowFrom } from '../traffic/buckets.ts'
import type { TenantTraffic } from '../traffic/kept.ts'
import { changeIn, codeIn, queueIn, waitIn } from '../traffic/keys.ts'

export const showTally: Handler = async ({ token }, { engine }) => {
  const { tally, now } = await engine.events({ by: 'tally', tenant: token.tenant })
  const own = tally.filter(({ count, queue }) => count !== 0 && (token.queues?.includes(queue) ?? true))
  return json(200, { at: timeToWire(now), counts: countsOf(own) } satisfies TallyAnswer)
}

/** Counts that are told by name, the greatest: a tenant may have 140,000 (kinds times states). */
const COUNTS_TOLD = 5_000
const OTHER = 'other'

/** What is beyond is told together, state by state, so that the sum of each state is what it is. */
function countsOf(tally: readonly Tally[]): TallyAnswer['counts'] {
  const greatest = tally.length <= COUNTS_TOLD ? tally : tally.toSorted((a, b) => b.count - a.count)
  const beyond = new Map<State, number>()
  for (const { state, count } of greatest.slice(COUNTS_TOLD)) beyond.set(state, (beyond.get(state) ?? 0) + count)
  return [
    ...greatest
      .slice(0, COUNTS_TOLD)
      .map(({ queue, jobType, state, count }) => ({ queue, type: jobType, state, count })),
    ...[...beyond].map(([state, count]) => ({ queue: OTHER, type: OTHER, state, count })),
  ]
}

/** Failures and types that are told by name: the most frequent, the most recent. */
const CODES_TOLD = 20
const QUEUES_TOLD = 500
const TYPES_TOLD = 200

export const showTraffic: Handler = async ({ token, query }, { engine, traffic }) => {
  const { window, jobs } = query as z.output<typeof trafficQuery>
  const mayTell = (queue: string) => token.queues?.includes(queue) ?? true
  traffic.asked()
  const now = engine.now()
  const own = traffic.of(token.tenant)
  const buckets = own?.buckets.within(window, now) ?? []
  const from = Math.max(windowFrom(window, now), traffic.since ?? now)
  // A window of which little has been counted is drawn from finer steps.
  const drawn = finestSince(from, now)
  return json(200, {
    at: timeToWire(now),
    from: timeToWire(from),
    since: timeToWire(traffic.since ?? now),
    stepMs: WINDOWS[drawn].stepMs,
    changes: changesOf(buckets),
    ...(jobs === 'true' && { takers: takersOf(own, mayTell) }),
    deploys: (own?.versions.since(from) ?? []).map(({ version, at }) => ({ version, at: timeToWire(at) })),
    steps: (own?.buckets.within(drawn, now) ?? []).map(stepOf),
    failures: failuresOf(buckets),
    ended: endedOf(buckets).filter(({ queue }) => mayTell(queue)),
    ...waitOf(buckets),
    lastSuccess: lastSuccessOf(own),
  } satisfies TrafficAnswer)
}

function summed<T>(
  buckets: readonly Bucket[],
  read: (key: string) => T | undefined,
): readonly (T & { count: number })[] {
  const found = new Map<string, T & { count: number }>()
  for (const { counts } of buckets)
    for (const [key, count] of counts) {
      const what = read(key)
      if (what !== undefined) found.set(key, { ...what, count: count + (found.get(key)?.count ?? 0) })
    }
  return [...found.values()]
}

const changesOf = (buckets: readonly Bucket[]): TrafficAnswer['changes'] => summed(buckets, changeIn)

/** A token that is bound to queues is told of the jobs in those only. */
const takersOf = (own: TenantTraffic | undefined, mayTell: (queue: string) => boolean): readonly TakersAnswer[] =>
  (own?.takers.changes() ?? []).flatMap((key) => {
    const change = changeIn(key)
    if (own === undefined || change === undefined) return []
    const told = own.takers.of(key).filter(({ queue }) => mayTell(queue))
    return [{ ...change, jobs: told.map(({ id, type, at, by }) => ({ id, type, at: timeToWire(at), by })) }]
  })

function failuresOf(buckets: readonly Bucket[]): TrafficAnswer['failures'] {
  const codes = summed(buckets, (key) => {
    const code = codeIn(key)
    return code === undefined ? undefined : { code }
  })
  return [...codes].sort((a, b) => b.count - a.count).slice(0, CODES_TOLD)
}

function stepOf({ at, counts }: Bucket): TrafficStep {
  const events: Record<string, number> = {}
  for (const [key, count] of counts) {
    const change = changeIn(key)
    if (change !== undefined) events[change.event] = (events[change.event] ?? 0) + count
  }
  return { at: timeToWire(at), events, ...waitOf([{ at, counts }]) }
}

function endedOf(buckets: readonly Bucket[]): TrafficAnswer['ended'] {
  const queues = summed(buckets, (key) => {
    const queue = queueIn(key)
    return queue === undefined ? undefined : { queue }
  })
  return [...queues].sort((a, b) => b.count - a.count).slice(0, QUEUES_TOLD)
}

function waitOf(buckets: readonly Bucket[]): Pick<TrafficStep, 'wait'> {
  const waits = summed(buckets, (key) => {
    const ms = waitIn(key)
    return ms === undefined ? undefined : { ms }
  }).toSorted((a, b) => a.ms - b.ms)
  const all = waits.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return {}
  const reaching = (share: number): number => {
    let rest = share * all
    for (const { ms, count } of waits) {
      rest -= count
      if (rest <= 0) return ms
    }
    return waits.at(-1)?.ms ?? 0
  }
  return { wait: { p50: reaching(0.5), p95: reaching(0.95) } }
}

const lastSuccessOf = (own: TenantTraffic | undefined): TrafficAnswer['lastSuccess'] =>
  [...(own?.lastSuccess ?? [])]
    .slice(-TYPES_TOLD)
    .reverse()
    .map(([type, at]) => ({ type, at: timeToWire(at) }))
