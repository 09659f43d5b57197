/**
 * How much goes on: state changes with the jobs that made them last, failures by code, what ended by queue, how long what was ready
 * waited, and when each type last succeeded, folded from the feed as it grows; and which versions of workers have come. No job is scanned
 * for it, and what came before the first gateway began to count is not known to it: `since` says when that was. What was counted is
 * written down once a minute with how far it has come (`kept.ts`), so that a restart loses nothing: the feed is read from there.
 *
 * An item of the feed tells what happened, and not from which state: a few events of each kind are read, and the others of the
 * same moment counted in the same proportions. While there are no more than these, every count is exact.
 *
 * Modes: idle (nobody has asked for a while: nothing is read, nothing held), recalling (it reads what it missed) and counting (a
 * round a second).
 */
import { type Event, type EventType, OBSERVATION_TYPES } from '../../core/event.ts'
import { isTerminal } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import { Workers } from '../../engine/workers.ts'
import { comparePositions } from '../../store/compare-positions.ts'
import type { FeedItem } from '../../store/store.ts'
import type { Clock } from '../../system/clock.ts'
import type { Log } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { noTraffic, type TenantTraffic, TrafficShelf } from './kept.ts'
import { changeKey, endedKey, failureKey, OTHER_FAILURES, OTHER_QUEUES, waitKey } from './keys.ts'
import type { Taker } from './takers.ts'

export interface TrafficOptions {
  readonly engine: Pick<Engine, 'events' | 'settings' | 'now'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

const ROUND_MS = 1_000
const PAGE = 1_000
/** Read in one round; who does more than this is counted from where the feed is then. */
const PAGES_MOST = 20
/** What was missed is read up to here; beyond that it is counted anew, from where the feed is then. */
const RECALLED_MOST = 200_000
const WRITTEN_EVERY_MS = 60_000
/** Workers tell of themselves every thirty seconds, and at once when they begin. */
const WORKERS_SEEN_EVERY_MS = 10_000
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
  readonly #shelf: TrafficShelf
  readonly #workers: Workers
  #tenants = new Map<string, TenantTraffic>()
  /** Of tenants that were written down further than the others, how far. */
  #ahead = new Map<string, string>()
  /** Those that have something to be written down. */
  readonly #changed = new Set<string>()
  #writtenMs = 0
  /** Whether it goes on with what was written down. */
  #isRecalled = false
  /** When it last looked who works; undefined where it has not yet. */
  #sawWorkersMs: number | undefined
  /** How far the head was written. */
  #written: string | undefined
  /** While it reads what it missed: how much more of that it may read. */
  #toRecall: number | undefined
  /** Where it has come to; undefined exactly while it is idle, or has not begun. */
  #position: string | undefined
  #since: number | undefined
  #askedMs = 0

  constructor(options: TrafficOptions) {
    this.#options = options
    this.#shelf = new TrafficShelf(options.engine)
    this.#workers = new Workers(options.engine)
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
    // Who comes next reads the feed from what was written last: a store that is gone by now costs time there, and nothing else.
    await this.#write().catch(() => {})
  }

  async #round(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#askedMs > UNASKED_MS) return await this.#idle()
    if (this.#position === undefined) await this.#recall()
    await this.#read()
    await this.#seeWorkers(nowMs)
    if (nowMs - this.#writtenMs < WRITTEN_EVERY_MS) return
    this.#writtenMs = nowMs
    await this.#write()
  }

  async #read(): Promise<void> {
    for (let n = 0; n < PAGES_MOST; n += 1) {
      const { feed, cursor } = await this.#options.engine.events({ by: 'feed', after: this.#position, limit: PAGE })
      await this.#fold(feed)
      this.#position = cursor ?? this.#position
      if (this.#toRecall !== undefined) this.#toRecall -= feed.length
      if (feed.length < PAGE) {
        this.#toRecall = undefined
        this.#ahead = new Map()
        return
      }
    }
    // What was missed takes rounds of its own.
    if (this.#toRecall !== undefined && this.#toRecall > 0) return
    // Further behind than it may read: what is in between is not counted. Where that may be hours, nothing before it is shown either.
    if (this.#toRecall !== undefined) {
      await this.#shelf.clear()
      this.#forget()
    }
    this.#position = await this.#end()
    this.#since ??= this.#options.engine.now()
  }

  /** What the first look of all finds was there before: only what is found later was deployed meanwhile. */
  async #seeWorkers(nowMs: number): Promise<void> {
    if (this.#sawWorkersMs !== undefined && nowMs - this.#sawWorkersMs < WORKERS_SEEN_EVERY_MS) return
    const isFirst = this.#sawWorkersMs === undefined && !this.#isRecalled
    this.#sawWorkersMs = nowMs
    const now = this.#options.engine.now()
    // Who works is told by documents of theirs: those that cannot be read cost a mark.
    for (const { tenant, about } of await this.#workers.present().catch(() => [])) {
      const { version } = about
      if (typeof version !== 'string' || version === '') continue
      if (this.#tenant(tenant).versions.see(version, isFirst ? null : now)) this.#changed.add(tenant)
    }
  }

  /** Goes on where what was written down ends; without any, with what comes. */
  async #recall(): Promise<void> {
    const { engine } = this.#options
    const [shelved, end] = [await this.#shelf.read(), await this.#end()]
    this.#writtenMs = this.#options.clock.monotonicMs()
    // One that is ahead of the feed is of another life of this store.
    if (shelved === undefined || comparePositions(shelved.head.position, end) > 0) {
      this.#position = end
      this.#since = engine.now()
      return
    }
    const { head, tenants } = shelved
    this.#isRecalled = true
    this.#position = head.position
    this.#since = head.since
    this.#toRecall = RECALLED_MOST
    this.#tenants = new Map([...tenants].slice(-TENANTS_MOST))
    this.#ahead = new Map([...tenants].map(([tenant, { position }]) => [tenant, position]))
  }

  async #end(): Promise<string> {
    const { cursor = '' } = await this.#options.engine.events({ by: 'feed', after: undefined, limit: 1 })
    return cursor
  }

  #forget(): void {
    this.#position = undefined
    this.#since = undefined
    this.#toRecall = undefined
    this.#tenants = new Map()
    this.#ahead = new Map()
    this.#isRecalled = false
    this.#sawWorkersMs = undefined
  }

  async #idle(): Promise<void> {
    await this.#write()
    this.#forget()
    void this.#counting.stop()
  }

  async #write(): Promise<void> {
    const [position, since] = [this.#position, this.#since]
    if (position === undefined || position === '' || since === undefined) return
    for (const tenant of [...this.#changed]) {
      const traffic = this.#tenants.get(tenant)
      if (traffic !== undefined) await this.#shelf.write(tenant, { ...traffic, position })
      this.#changed.delete(tenant)
    }
    if (position === this.#written) return
    await this.#shelf.writeHead({ position, since })
    this.#written = position
  }

  async #fold(feed: readonly FeedItem[]): Promise<void> {
    const now = this.#options.engine.now()
    const news = feed.filter((item) => this.#isNew(item))
    const kinds = [...Map.groupBy(news, ({ tenant, type }) => JSON.stringify([tenant, type])).values()]
    // All of it is read before any of it is counted: a page that could not be read is read again.
    const read: (readonly Counted[])[] = []
    for (const items of kinds) read.push(await this.#counted(items))
    for (const [n, items] of kinds.entries()) this.#count(items, read[n] ?? [], now)
  }

  #count(items: readonly FeedItem[], counted: readonly Counted[], now: number): void {
    const [{ tenant, type }] = items as readonly [FeedItem]
    const { buckets, lastSuccess, takers } = this.#tenant(tenant)
    this.#changed.add(tenant)
    for (const { change, taker, failure, wait, count, at } of counted) {
      const when = Math.min(at, now)
      takers.add(change, taker)
      buckets.add(when, change, count)
      if (wait !== undefined) buckets.add(when, wait, count)
      if (failure !== undefined) buckets.addMadeUp(when, failure, count, OTHER_FAILURES)
    }
    const latest = Math.min(now, Math.max(0, ...counted.map(({ at }) => at)))
    // A feed item names its queue: these are exact, however many there are.
    if (counted.some(({ ends }) => ends) && latest > 0)
      for (const { queue } of items) buckets.addMadeUp(latest, endedKey(queue), 1, OTHER_QUEUES)
    if (type === 'succeeded' && latest > 0) for (const { jobType } of items) succeeded(lastSuccess, jobType, latest)
  }

  /** Whether it is not in what was written down of its tenant. */
  #isNew({ tenant, position }: FeedItem): boolean {
    const ahead = this.#ahead.get(tenant)
    if (ahead === undefined) return true
    return comparePositions(position, ahead) > 0
  }

  /** What these are, one by one while they are few; else in the proportions of some of them. */
  async #counted(items: readonly FeedItem[]): Promise<readonly Counted[]> {
    if (items.some(({ type }) => OBSERVED.has(type))) return []
    const every = Math.max(1, Math.ceil(items.length / READ_MOST))
    const sample = items.filter((_, n) => n % every === 0)
    const read = (await Promise.all(sample.map((item) => this.#event(item)))).filter((each) => each !== undefined)
    const share = read.length === 0 ? 0 : items.length / read.length
    return read.flatMap((each) => countedAs(each, share))
  }

  /** With the one before it where that says since when the job was ready. */
  async #event(item: FeedItem): Promise<Read | undefined> {
    const { jobId, rev, type } = item
    const back = type === 'claimed' && rev > 1 ? 2 : 1
    const { events } = await this.#options.engine.events({ by: 'job', id: jobId, afterRev: rev - back, limit: back })
    const event = events.find((each) => each.rev === rev)
    return event && { item, event, before: events.find((each) => each.rev === rev - 1) }
  }

  #tenant(name: string): TenantTraffic {
    const there = this.#tenants.get(name) ?? noTraffic()
    this.#tenants.delete(name)
    this.#tenants.set(name, there)
    if (this.#tenants.size > TENANTS_MOST) this.#tenants.delete(this.#tenants.keys().next().value as string)
    return there
  }
}

/** They change no state; heartbeats alone would be most of what is read. */
const OBSERVED: ReadonlySet<EventType> = new Set(OBSERVATION_TYPES)

interface Read {
  readonly item: FeedItem
  readonly event: Event
  readonly before: Event | undefined
}

/** The names that an event is counted under. */
interface Counted {
  readonly change: string
  readonly taker: Taker
  readonly failure: string | undefined
  readonly wait: string | undefined
  /** Whether it ended its job. */
  readonly ends: boolean
  readonly count: number
  /** When it happened. */
  readonly at: number
}

function succeeded(lastSuccess: Map<string, number>, jobType: string, at: number): void {
  lastSuccess.delete(jobType)
  lastSuccess.set(jobType, at)
  if (lastSuccess.size > TYPES_MOST) lastSuccess.delete(lastSuccess.keys().next().value as string)
}

function countedAs({ item, event, before }: Read, count: number): readonly Counted[] {
  const { to, at, type, from, payload, actor: by } = event
  if (to === undefined) return []
  const failure = 'failure' in payload ? payload.failure : undefined
  const wait = type === 'claimed' && before !== undefined ? waitKey(at - readySince(before)) : undefined
  const change = changeKey(type, from, to)
  const taker = { id: item.jobId, type: item.jobType, queue: item.queue, at, by }
  return [{ change, taker, failure: failure && failureKey(failure.code), wait, ends: isTerminal(to), count, at }]
}

/** When a job could be claimed after this, as far as its log tells: what it was held for by a limit is in it. */
const readySince = ({ at, payload }: Event): number =>
  'runAt' in payload && payload.runAt !== undefined ? Math.max(at, payload.runAt) : at
