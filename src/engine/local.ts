/** The engine over a store. One instance per process and store; everything it knows can be lost without harm. */
import type { Holding } from '../core/flow/explain.ts'
import { idText } from '../core/id.ts'
import type { Job, JobId, Time } from '../core/job.ts'
import { refuse } from '../core/refuse.ts'
import type {
  EventPage,
  EventQuery,
  Hint,
  JobPage,
  JobQuery,
  LoadAnswer,
  LoadItem,
  SettingAnswer,
  SettingOperation,
  Store,
  Transaction,
} from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import type { Timers } from '../system/timers.ts'
import { within } from '../system/within.ts'
import type { Judge } from './admission.ts'
import { ChildrensEnds } from './childrens-ends.ts'
import { claim } from './claim.ts'
import { Declarations } from './declarations.ts'
import { bringNewer, bringsNewer, type DuplicatesParts } from './duplicates.ts'
import type {
  Answer,
  Assignment,
  ClaimRequest,
  Engine,
  EnqueueAnswer,
  EnqueueRequest,
  HeartbeatAnswer,
  HeartbeatRequest,
  KeyWord,
  LimitPage,
  LimitQuery,
  LimitStatus,
  Word,
} from './engine.ts'
import { enqueue } from './enqueue.ts'
import { Executor, type ExecutorParts, type Ticked } from './execute.ts'
import { FlowKeys } from './flow-keys.ts'
import { Hearsay } from './hearsay.ts'
import { heartbeat } from './heartbeat.ts'
import { whatHolds } from './holding.ts'
import { Holdings } from './holdings.ts'
import { IdBlocks } from './id-blocks.ts'
import type { Round } from './judging.ts'
import { type KeyWordParts, sayToKey } from './key-words.ts'
import { limitsFrom, statusOf } from './limit-status.ts'
import { listener } from './listener.ts'
import { loadNewest } from './load-newest.ts'
import { noObserver, type Observer } from './observer.ts'
import { Settlement } from './settle.ts'
import { Steps } from './steps.ts'
import { StoreClock } from './store-clock.ts'

export interface LocalEngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly observer?: Observer | undefined
  readonly log?: Log | undefined
}

/** Refuses requests of which none was taken on, since the queue in front of the store is full. Any other error is thrown on. */
function overloaded(error: unknown, requests: readonly EnqueueRequest[]): readonly EnqueueAnswer[] {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'OVERLOADED') throw error
  const refusal = refuse('OVERLOADED', { command: 'enqueue', message: error.message, retryAfterMs: RETRY_AFTER_MS })
  return requests.map(() => ({ ok: false, refusal }))
}

const RETRY_AFTER_MS = 100
/** How long `close` waits for parents to be told of their children's ends. */
const TOLD_WITHIN_MS = 500

/** Places for the records of jobs that workers of this process own: far more than they hold at a time. */
const HELD = 65_536

export class LocalEngine implements Engine {
  readonly #store: Store
  readonly #parts: ExecutorParts
  readonly #random: Random
  readonly #executor: Executor
  readonly #settlement: Settlement
  readonly #childrensEnds: ChildrensEnds
  readonly #keyWords: KeyWordParts
  readonly #declarations: Declarations
  readonly #hearsay: Hearsay
  readonly #duplicates: DuplicatesParts

  constructor(options: LocalEngineOptions) {
    const { store, clock, random, timers, observer = noObserver } = options
    const log = harmless(options.log ?? silentLog)
    const steps = new Steps({ store, log })
    const storeClock = new StoreClock(clock, (step) => steps.noticed(step))
    this.#store = store
    this.#random = random
    const ids = new IdBlocks(store, storeClock)
    const monotonicMs = () => clock.monotonicMs()
    const held = new Holdings(HELD)
    const settle = (words: readonly Word[]) => this.#settlement.settle(words)
    const family = new ChildrensEnds({ store, settle, timers })
    this.#childrensEnds = family
    const flowKeys = new FlowKeys({ store, log })
    this.#keyWords = { store, keys: flowKeys, timers, now: () => storeClock.now() }
    this.#declarations = new Declarations({ ...this.#keyWords, log })
    this.#hearsay = new Hearsay({ ...this.#keyWords, store, log })
    const flow = { flowKeys, declarations: this.#declarations, hearsay: this.#hearsay }
    this.#parts = { store, clock: storeClock, steps, timers, monotonicMs, held, ids, observer, log, family, ...flow }
    this.#duplicates = {
      store,
      clock: storeClock,
      random,
      settle,
      enqueue: (some, tx) => enqueue(this.#parts, some, tx, false),
    }
    this.#executor = new Executor(this.#parts)
    this.#settlement = new Settlement({ held, timers, monotonicMs, executor: this.#executor })
  }

  async enqueue(
    requests: readonly EnqueueRequest[],
    tx?: Transaction,
    together = false,
  ): Promise<readonly EnqueueAnswer[]> {
    try {
      const answers = await enqueue(this.#parts, requests, tx, together)
      return answers.some((answer, i) => bringsNewer(requests[i] as EnqueueRequest, answer))
        ? await bringNewer(this.#duplicates, requests, answers, tx)
        : answers
    } catch (error) {
      return overloaded(error, requests)
    }
  }

  async reserveIds(tenants: readonly string[]): Promise<readonly JobId[]> {
    const next = await this.#parts.ids.each(tenants.length, (i) => tenants[i])
    return tenants.map(() => idText(next()))
  }

  claim(request: ClaimRequest): Promise<readonly Assignment[]> {
    return claim(this.#parts, this.#random, request)
  }

  settle(words: readonly Word[]): Promise<readonly Answer[]> {
    return this.#settlement.settle(words)
  }

  heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]> {
    return heartbeat(this.#parts, (words) => this.#settlement.settle(words), beats)
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    return this.heard(() => loadNewest(this.#store, items))
  }

  async find(query: JobQuery): Promise<JobPage> {
    return this.heard(() => this.#store.find(query))
  }

  async events(query: EventQuery): Promise<EventPage> {
    return this.heard(() => this.#store.events(query))
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const askedMs = this.#parts.clock.asked()
    const answers = await this.#store.settings(operations)
    for (const { now } of answers) this.#parts.clock.heard(now, askedMs)
    return answers
  }

  whatHolds(jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Holding>> {
    return whatHolds(this, jobs)
  }

  limits(query: LimitQuery): Promise<LimitPage> {
    return limitsFrom(this.#store, query)
  }

  async sayToLimits(words: readonly KeyWord[]): Promise<readonly (LimitStatus | undefined)[]> {
    const views = await Promise.all(words.map((word) => sayToKey(this.#keyWords, word)))
    return views.map((view) => view && statusOf(view, this.now()))
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    return this.#store.subscribe(listener(wake, this.#parts.log))
  }

  /** The same engine: a call to a store in this process cannot be called back. */
  until(): Engine {
    return this
  }

  now(): Time {
    return this.#parts.clock.now()
  }

  /** One round of admission: begins with what waits to be judged, and commits what has its word. */
  admit(judge: Judge, limit: number): Promise<Round> {
    return this.#executor.judging.round(judge, limit)
  }

  /** A page of what waits to be judged and was handed to nobody. */
  admitForgotten(judge: Judge, cursor: string | undefined): Promise<{ readonly cursor: string | undefined }> {
    return this.#executor.judging.forgotten(judge, cursor)
  }

  /** One round of the ticker: what has come due, judged and committed. */
  tick(limit: number): Promise<Ticked> {
    return this.#executor.tick(limit)
  }

  /** Whether workers of this process, or behind it, have jobs. */
  get hasJobs(): boolean {
    return !this.#parts.held.isEmpty
  }

  /** Asks the store for something that tells the time: each answer is a look at its clock. */
  async heard<A extends { readonly now: Time }>(ask: () => Promise<A>): Promise<A> {
    const askedMs = this.#parts.clock.asked()
    const answer = await ask()
    this.#parts.clock.heard(answer.now, askedMs)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A store that does not answer in time is closed all the same: parents are told by the next round that looks after them.
    const untold = [this.#childrensEnds, this.#declarations, this.#hearsay]
    const last = Promise.all(untold.map((each) => each[Symbol.asyncDispose]()))
    await within(this.#parts.timers, TOLD_WITHIN_MS, last)
    await this.#store.close()
  }
}
