/**
 * How much goes on: state changes, failures by code, and when each type last succeeded, folded from the feed as it grows. No job
 * is scanned for it, and what came before it began to count is not known to it: `since` says when that was.
 *
 * An item of the feed tells what happened, and not from which state: a few events of each kind are read, and the others of the
 * same moment counted in the same proportions. While there are no more than these, every count is exact.
 *
 * Modes: idle (nobody has asked for a while: nothing is read, nothing kept) and counting (a round a second).
 */
import { type Event, type EventType, OBSERVATION_TYPES } from '../../core/event.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FeedItem } from '../../store/store.ts'
import type { Clock } from '../../system/clock.ts'
import type { Log } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { Buckets } from './buckets.ts'
import { changeKey, failureKey, OTHER_FAILURES } from './keys.ts'

export interface TrafficOptions {
  readonly engine: Pick<Engine, 'events' | 'now'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

export interface TenantTraffic {
  readonly buckets: Buckets
  /** By type. */
  readonly lastSuccess: Map<string, number>
}

const ROUND_MS = 1_000
const PAGE = 1_000
/** Read in one round; who does more than this is counted from where the feed is then. */
const PAGES_MOST = 20
/** Events of one kind and tenant that are read in one round. */
const READ_MOST = 20
/** Nobody has looked for as long: it stops, and forgets. */
const UNASKED_MS = 24 * 60 * 60 * 1_000
/** Those with the most recent traffic. */
const TENANTS_MOST = 200
const TYPES_MOST = 1_000

export class Traffic implements AsyncDisposable {
  readonly #options: TrafficOptions
  readonly #counting: Service
  #tenants = new Map<string, TenantTraffic>()
  /** Where it has come to; undefined exactly while it is idle, or has not begun. */
  #position: string | undefined
  #since: number | undefined
  #askedMs = 0

  constructor(options: TrafficOptions) {
    this.#options = options
    const { timers, log } = options
    this.#counting = service({ name: 'traffic', everyMs: ROUND_MS, timers, log, round: () => this.#round() })
  }

  /** A question keeps it counting. */
  asked(): void {
    this.#askedMs = this.#options.clock.monotonicMs()
    this.#counting.start()
  }

  /** Since when it has been counting; undefined where it has not begun. */
  get since(): number | undefined {
    return this.#since
  }

  of(tenant: string): TenantTraffic | undefined {
    return this.#tenants.get(tenant)
  }

  /** One round, now. */
  runOnce(): Promise<void> {
    return this.#counting.runOnce()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#counting[Symbol.asyncDispose]()
  }

  async #round(): Promise<void> {
    if (this.#options.clock.monotonicMs() - this.#askedMs > UNASKED_MS) return this.#idle()
    if (this.#position === undefined) return await this.#begin()
    for (let n = 0; n < PAGES_MOST; n += 1) {
      const { feed, cursor } = await this.#options.engine.events({ by: 'feed', after: this.#position, limit: PAGE })
      await this.#fold(feed)
      this.#position = cursor ?? this.#position
      if (feed.length < PAGE) return
    }
    // Further behind than it may read: what is in between is not counted.
    await this.#begin()
  }

  async #begin(): Promise<void> {
    const { engine } = this.#options
    const { cursor = '' } = await engine.events({ by: 'feed', after: undefined, limit: 1 })
    this.#position = cursor
    this.#since ??= engine.now()
  }

  #idle(): void {
    this.#position = undefined
    this.#since = undefined
    this.#tenants = new Map()
    void this.#counting.stop()
  }

  async #fold(feed: readonly FeedItem[]): Promise<void> {
    const at = this.#options.engine.now()
    const kinds = Map.groupBy(feed, ({ tenant, type }) => JSON.stringify([tenant, type]))
    for (const items of kinds.values()) {
      const [{ tenant, type }] = items as [FeedItem]
      const traffic = this.#tenant(tenant)
      for (const { change, failure, count } of await this.#counted(items, type)) {
        traffic.buckets.add(at, change, count)
        if (failure !== undefined) traffic.buckets.addMadeUp(at, failure, count, OTHER_FAILURES)
      }
      if (type === 'succeeded') for (const { jobType } of items) this.#succeeded(traffic, jobType, at)
    }
  }

  #succeeded({ lastSuccess }: TenantTraffic, jobType: string, at: number): void {
    lastSuccess.delete(jobType)
    lastSuccess.set(jobType, at)
    if (lastSuccess.size > TYPES_MOST) lastSuccess.delete(lastSuccess.keys().next().value as string)
  }

  /** What these are, one by one while they are few; else in the proportions of some of them. */
  async #counted(items: readonly FeedItem[], type: EventType): Promise<readonly Counted[]> {
    if (OBSERVED.has(type)) return []
    const every = Math.max(1, Math.ceil(items.length / READ_MOST))
    const sample = items.filter((_, n) => n % every === 0)
    const events = (await Promise.all(sample.map((item) => this.#event(item)))).filter((event) => event !== undefined)
    const share = events.length === 0 ? 0 : items.length / events.length
    return events.flatMap((event) => countedAs(event, share))
  }

  async #event({ jobId, rev }: FeedItem): Promise<Event | undefined> {
    const { events } = await this.#options.engine.events({ by: 'job', id: jobId, afterRev: rev - 1, limit: 1 })
    const [event] = events
    return event?.rev === rev ? event : undefined
  }

  #tenant(name: string): TenantTraffic {
    const there = this.#tenants.get(name) ?? { buckets: new Buckets(), lastSuccess: new Map() }
    this.#tenants.delete(name)
    this.#tenants.set(name, there)
    if (this.#tenants.size > TENANTS_MOST) this.#tenants.delete(this.#tenants.keys().next().value as string)
    return there
  }
}

/** They change no state; heartbeats alone would be most of what is read. */
const OBSERVED: ReadonlySet<EventType> = new Set(OBSERVATION_TYPES)

/** The names that an event is counted under. */
interface Counted {
  readonly change: string
  readonly failure: string | undefined
  readonly count: number
}

function countedAs(event: Event, count: number): readonly Counted[] {
  if (event.to === undefined) return []
  const failure = 'failure' in event.payload ? event.payload.failure : undefined
  const change = changeKey(event.type, event.from, event.to)
  return [{ change, failure: failure && failureKey(failure.code), count }]
}
