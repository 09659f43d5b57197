/**
 * `pawl/testing`: the real engine and the real worker over a memory store, in time that passes when the test says so.
 * No real timer is involved, except that whoever waits for a handler does not wait for ever.
 */
import { isDeepStrictEqual } from 'node:util'
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import { flowNameOf } from '../core/flow/membership.ts'
import { DEFAULT_TENANT, isEnded, type Job, type JobId, LIVE_STATES, type State } from '../core/job.ts'
import { toJson } from '../core/json.ts'
import { leaseWindowMs } from '../core/timers.ts'
import { LocalEngine } from '../engine/local.ts'
import { purged } from '../engine/purge.ts'
import { scheduler } from '../engine/scheduler.ts'
import { Schedules } from '../engine/schedules.ts'
import { Invalid } from '../library/errors.ts'
import { Pawl } from '../library/pawl.ts'
import { Producer } from '../library/producer.ts'
import { spawning } from '../library/spawn.ts'
import { openMemoryStore } from '../store/memory/memory.ts'
import { queueKey } from '../store/store.ts'
import { realClock } from '../system/clock.ts'
import { realIds } from '../system/ids.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { demandNode } from '../system/node-version.ts'
import { realRandom } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import { turn } from '../system/turn.ts'
import { Crew } from '../worker/crew.ts'
import type { JobDefinition } from '../worker/definition.ts'
import { startWorker, type Worker, type WorkerOptions } from '../worker/worker.ts'
import { type Mortal, mortal } from './mortal.ts'
import { VirtualTime } from './virtual-time.ts'

export interface TestingOptions {
  /**
   * When the test begins.
   * @default the first of January 2030
   */
  readonly now?: Date | number | undefined
  /**
   * What the worker is told.
   * @default nothing: it has its defaults, but polls once an hour
   */
  readonly worker?: WorkerOptions | undefined
  /**
   * Where lines go.
   * @default nowhere
   */
  readonly log?: Log | undefined
  /**
   * How long, by the real clock, a handler may take before `drain` gives up on it.
   * @default 10000
   */
  readonly patienceMs?: number | undefined
}

export interface ExpectedJob {
  readonly type: string
}

export async function openTesting(jobs: readonly JobDefinition[], options: TestingOptions = {}): Promise<Testing> {
  demandNode()
  const testing = new Testing(jobs, options)
  await testing.drain()
  return testing
}

const DAWN = Date.UTC(2030, 0, 1)
const PATIENCE_MS = 10_000
const PAGE = 500
const TICK = 500

export class Testing implements AsyncDisposable {
  readonly pawl: Pawl
  readonly #time: VirtualTime
  readonly #engine: LocalEngine
  readonly #scheduler: Service
  readonly #jobs: readonly JobDefinition[]
  readonly #options: TestingOptions
  #worker: Worker
  #world: Mortal

  constructor(jobs: readonly JobDefinition[], options: TestingOptions) {
    this.#jobs = jobs
    this.#options = options
    const time = new VirtualTime(options.now === undefined ? DAWN : Number(options.now))
    this.#time = time
    const store = openMemoryStore({ clock: time, timers: time })
    this.#engine = new LocalEngine({ store, clock: time, random: realRandom, timers: time })
    const log = harmless(options.log ?? silentLog)
    this.#scheduler = scheduler({ engine: this.#engine, timers: time, log })
    const surroundings = { clock: time, machineMs: () => time.monotonicMs() }
    const purge = (ids: readonly JobId[]) => purged(store, ids)
    this.pawl = new Pawl({ engine: this.#engine, timers: time, ids: realIds(realRandom), log, surroundings, purge })
    this.#world = mortal(this.#engine, time)
    this.#worker = this.#start()
  }

  /** The store's clock. */
  get now(): Date {
    return new Date(this.#time.now())
  }

  /** Lets time pass, and everything happen that happens meanwhile. */
  async advance(duration: Duration): Promise<void> {
    const ms = parseDuration(duration)
    if (ms === undefined || ms < 0) throw new TypeError(`A duration ${DURATION_RULE}, not ${String(duration)}.`)
    const until = this.#time.now() + ms
    // What is under way comes to rest first: what it will want next decides how far time goes.
    await this.#workThrough()
    for (;;) {
      const next = await this.#nextMoment(until)
      await this.#time.advance((next ?? until) - this.#time.now())
      await this.#workThrough()
      if (next === undefined) return
    }
  }

  /** Until there is nothing left to do at this time. */
  async drain(): Promise<void> {
    const isDone = async () => {
      await this.#workThrough()
      return this.#worker.held === 0 && !(await this.#hasReady())
    }
    if (await this.#eventually(isDone)) return
    const running = await this.#live((job) => job.lease !== undefined)
    const names = running.map(({ id, spec }) => `${id} (${spec.kind.type})`).join(', ')
    throw new Error(`drain: still running: ${names}. A handler that waits for time to pass needs advance().`)
  }

  /** The worker is gone, without a word, as if its process had been killed; another takes its place. */
  async crashWorker(): Promise<void> {
    this.#world.kill()
    this.#world = mortal(this.#engine, this.#time)
    this.#worker = this.#start()
    await this.#time.settle()
  }

  /** The worker cannot renew this lease any more; time passes until it is over. */
  async loseLease(id: JobId): Promise<void> {
    const job = await this.#must(id)
    if (job.lease === undefined) throw new Error(`loseLease: nobody owns ${id}, it is ${job.state}`)
    using _ = this.#world.silence(job.id)
    await this.advance(leaseWindowMs(job.spec.kind.policy) + 1)
  }

  /** The job of this type, with this input if one is given; an error that lists what there is, if there is none. */
  async expectEnqueued(job: ExpectedJob, ...wanted: readonly [] | readonly [input: unknown]): Promise<Job> {
    const { jobs } = await this.pawl.find({ types: [job.type], limit: PAGE })
    const inputs = await Promise.all(jobs.map(({ id }) => this.pawl.body(id, 'input')))
    const input = asStored(wanted[0])
    const found = jobs.find((_, i) => wanted.length === 0 || isDeepStrictEqual(inputs[i], input))
    if (found !== undefined) return found
    const what = wanted.length === 0 ? '' : ` with ${JSON.stringify(wanted[0])}`
    throw new Error(`expected a job ${job.type}${what}; enqueued: ${JSON.stringify(inputs)}`)
  }

  /** Without letting time pass: what a job needs time for needs `advance`. */
  async waitForState(id: JobId, state: State): Promise<Job> {
    let job = await this.#must(id)
    const isThere = async () => {
      await this.#workThrough()
      job = await this.#must(id)
      return job.state === state || isEnded(job)
    }
    await this.#eventually(isThere)
    if (job.state === state) return job
    const { error, lastFailure } = job
    throw new Error(`${id} is ${job.state}, not ${state}`, { cause: error ?? lastFailure })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A handler that hangs is no reason for a test to hang.
    this.#world.kill()
    await this.pawl.close()
  }

  #start(): Worker {
    const { engine, timers } = this.#world
    const spawn = spawning(new Producer(engine), engine, false)
    return startWorker(engine, this.#jobs, {
      poll: '1h',
      ...this.#options.worker,
      clock: this.#time,
      machineMs: () => this.#time.monotonicMs(),
      timers,
      spawn,
      log: this.#options.log,
      // A worker that was struck dead is at work for ever; nobody waits for it.
      crew: new Crew(),
    })
  }

  /** Ticks, claims and runs until nothing moves. */
  async #workThrough(): Promise<void> {
    for (let more = true; more; ) {
      const ticked = await this.#engine.tick(TICK)
      more = ticked.moved > 0 || ticked.more
    }
    await this.#scheduler.runOnce()
    this.#worker.wake()
    await this.#time.settle()
  }

  async #eventually(isDone: () => Promise<boolean>): Promise<boolean> {
    const deadline = realClock.monotonicMs() + (this.#options.patienceMs ?? PATIENCE_MS)
    while (realClock.monotonicMs() < deadline) {
      if (await isDone()) return true
      await turn()
    }
    return false
  }

  /** The next time at which the store has something to do. */
  async #nextMoment(until: number): Promise<number | undefined> {
    const now = this.#time.now()
    const live = await this.#live(() => true)
    const moments = [await this.#nextSlot(now, until), ...(await this.#nextLettingIn(live))]
    for (const { readyAt, nextTickAt } of live) moments.push(readyAt, nextTickAt)
    const coming = moments.filter((at) => at !== undefined && at > now && at <= until)
    return coming.length === 0 ? undefined : Math.min(...coming.map(Number))
  }

  /** When what holds jobs changes by itself, once for all that are held by the same. */
  async #nextLettingIn(live: readonly Job[]): Promise<readonly (number | undefined)[]> {
    const held = new Map(live.filter(({ spec }) => spec.flow !== undefined).map((job) => [flowNameOf(job), job]))
    return [...(await this.#engine.whatHolds([...held.values()])).values()].map(({ when }) => when)
  }

  async #nextSlot(now: number, until: number): Promise<number | undefined> {
    const schedules = await new Schedules(this.#engine).all(DEFAULT_TENANT)
    const slots = schedules.map(({ next }) => next).filter((at) => at !== undefined && at > now && at <= until)
    return slots.length === 0 ? undefined : Math.min(...slots.map(Number))
  }

  async #hasReady(): Promise<boolean> {
    const now = this.#time.now()
    const ready = await this.#live(({ readyAt }) => readyAt !== undefined && readyAt <= now)
    const served = new Set(this.#jobs.map(({ tenant = DEFAULT_TENANT, queue }) => queueKey(tenant, queue)))
    for (const { id, spec } of ready) {
      const { tenant, queue } = spec.kind
      if (!served.has(queueKey(tenant, queue))) continue
      if (spec.flow !== undefined && (await this.#isHeld(id))) continue
      if (!(await this.#paused(tenant, queue))) return true
    }
    return false
  }

  /** It waits for somebody to end, or for time to pass. */
  async #isHeld(id: JobId): Promise<boolean> {
    const { items } = await this.#engine.load([{ id, flow: true }])
    return items[0]?.flow?.held === true
  }

  async #paused(tenant: string, queue: string): Promise<boolean> {
    const key = queueKey(tenant, queue)
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'queue', key }])
    const text = answer?.settings[0]?.text
    return text !== undefined && (JSON.parse(text) as { paused?: boolean }).paused === true
  }

  async #live(wanted: (job: Job) => boolean): Promise<readonly Job[]> {
    const found: Job[] = []
    let cursor: string | undefined
    do {
      const page = await this.#engine.find({ states: LIVE_STATES, order: 'oldest', limit: PAGE, cursor })
      found.push(...page.jobs.filter(wanted))
      cursor = page.cursor
    } while (cursor !== undefined)
    return found
  }

  async #must(id: JobId): Promise<Job> {
    const job = await this.pawl.get(id)
    if (job === undefined) throw new Error(`there is no job ${id}`)
    return job
  }
}

/** As it was stored; what could not have been is no input of any job. */
function asStored(value: unknown): unknown {
  const json = toJson(value, 'input')
  if (!json.ok) throw new Invalid('expectEnqueued', json.violations)
  return json.text === undefined ? undefined : JSON.parse(json.text)
}
