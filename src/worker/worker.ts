/**
 * The worker: claims jobs, runs their handlers, settles what became of them.
 *
 *   working   claims whenever there is room. Leaves by `stop`, or by `rest`.
 *   resting   a job is to run alone in this process: no new claims, what is held is handed back, what runs may finish.
 *             Leaves by `goOn`.
 *   draining  no new claims; what is held is handed back, what runs may finish until the drain time is nearly over,
 *             then it is told to stop and handed back. Leaves when the last outcome is written.
 *   stopped   nothing runs, nothing is held, no timer, thread or listener is left.
 */
import { isReturnable } from '../core/dialects/bond.ts'
import type { Draw } from '../core/lanes.ts'
import { servedWords } from '../core/needs.ts'
import { leaseWindowMs } from '../core/timers.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { realIds } from '../system/ids.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { machineMs } from '../system/machine-clock.ts'
import { realRandom } from '../system/random.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { within } from '../system/within.ts'
import { Alerts } from './alerts.ts'
import { Cells } from './apart/cells.ts'
import { isCell } from './apart/entered.ts'
import { CLAIM_MAX, Claiming, type Portion } from './claiming.ts'
import { type Member, thisCrew } from './crew.ts'
import type { JobDefinition } from './definition.ts'
import type { Desk } from './desk.ts'
import { Ears } from './ears.ts'
import { Execution } from './execution.ts'
import { type FailedAttempt, warnOf } from './failed-attempt.ts'
import { BACKLOG_MAX, Intake } from './intake.ts'
import { ShutdownError } from './interrupts.ts'
import type { LastWord } from './last-word.ts'
import { Leases } from './leases.ts'
import { Outbox } from './outbox.ts'
import { Presence } from './presence.ts'
import { Pulse } from './pulse.ts'
import { Running } from './running.ts'
import { onSignals } from './signals.ts'
import { Solitude } from './solitude.ts'
import { Stock } from './stock.ts'
import { NOBODY, UnknownTypes } from './unknown-types.ts'
import { type Way, Ways } from './ways.ts'
import {
  milliseconds,
  type StopOptions,
  type Surroundings,
  settingsOf,
  type WorkerOptions,
  type WorkerSettings,
} from './worker-options.ts'

export { demandKnown, type StopOptions, type Surroundings, type WorkerOptions } from './worker-options.ts'

export interface Worker extends AsyncDisposable {
  readonly id: string
  /** Where leases are kept: on the `main` thread a handler that blocks the event loop loses its lease. */
  readonly keeper: 'thread' | 'main'
  /** Handlers under way. */
  readonly running: number
  /** Jobs held, running or not, whose last word has not been answered. */
  readonly held: number
  /** Looks for work now. */
  wake(): void
  stop(options?: StopOptions): Promise<void>
}

export function startWorker(
  engine: Engine,
  definitions: readonly JobDefinition[],
  options: WorkerOptions & Surroundings = {},
): Worker {
  return new JobWorker(engine, definitions, options)
}

/** However short the drain: for what was claimed to come in, and for the last outcomes to be written. */
const SETTLE_WITHIN_MS = 250
/** How long presence and subscription may take to end, once the last word is said. */
const LEAVE_WITHIN_MS = 250

class JobWorker implements Worker, Desk, Member {
  readonly id: string
  readonly engine: Engine
  readonly outbox: Outbox
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly actor: string
  readonly transaction: Desk['transaction']
  readonly spawn: Desk['spawn']
  readonly #onFailed: Surroundings['onFailed']
  readonly #sealed: boolean
  readonly #linkTo: Surroundings['linkTo']
  readonly #ways: Ways
  readonly #cells: Cells | undefined
  readonly #solitude: Solitude
  readonly #membership: Disposable
  readonly #settings: WorkerSettings
  readonly #machineMs: () => number
  readonly #claiming: Claiming
  readonly #intake: Intake
  readonly #leases: Leases
  readonly #presence: Presence
  readonly #pulse: Pulse
  readonly #ears: Ears
  readonly #signals: Disposable | undefined
  readonly #stock: Stock
  readonly #running = new Running()
  readonly #alerts: Alerts
  #filling = false
  #resting = false
  #stopping: Promise<void> | undefined
  /** Closing: claims under way are brought in, nothing begins. Draining: what could be handed back has been. */
  #mode: 'open' | 'closing' | 'draining' = 'open'
  readonly #unknownTypes: UnknownTypes

  constructor(engine: Engine, definitions: readonly JobDefinition[], options: WorkerOptions & Surroundings) {
    if (isCell()) throw new Error(IN_A_CELL)
    this.engine = engine
    this.clock = options.clock ?? realClock
    this.timers = options.timers ?? realTimers
    this.log = harmless(options.log ?? silentLog)
    this.id = options.id ?? (options.ids ?? realIds(realRandom)).workerId()
    this.actor = `worker:${this.id}`
    this.transaction = options.transaction
    this.spawn = options.spawn
    this.#onFailed = options.onFailed
    this.#sealed = options.sealed ?? false
    this.#linkTo = options.linkTo
    this.outbox = new Outbox({ engine, timers: this.timers, log: this.log })
    this.#machineMs = options.machineMs ?? machineMs
    this.#settings = settingsOf(definitions, options)
    const { concurrency, prefetchMax, queues, types, pool, capabilities, version, processes } = this.#settings
    const { timers, log } = this
    this.#cells =
      options.cell && new Cells({ entry: options.cell, max: processes, timers, traced: options.around !== undefined })
    this.#ways = new Ways(definitions, this.#cells, options.around ?? ((definition) => definition))
    this.#unknownTypes = new UnknownTypes({ engine, log, workerId: this.id })
    const serves = [...new Set(definitions.map(({ type }) => type))]
    const isAllReturnable = definitions.every(({ policy }) => isReturnable(policy))
    this.#stock = new Stock({ ...this.#settings, isAllReturnable })
    const crew = options.crew ?? thisCrew
    const start = (execution: Execution) => this.#running.start(execution)
    this.#solitude = new Solitude({ crew, member: this, log, workerId: this.id, start })
    this.#alerts = new Alerts(engine, this.#running.late)
    const system = { engine, timers, log }
    const running = () => this.#running.count
    const able = { pool, capabilities, version }
    this.#presence = new Presence({ ...system, workerId: this.id, concurrency, queues, types, ...able, running })
    this.#claiming = new Claiming({ ...this.#settings, engine, workerId: this.id, serves })
    this.#leases = new Leases({
      ...system,
      nowMs: this.#machineMs,
      capacity: concurrency + prefetchMax + BACKLOG_MAX + 2 * CLAIM_MAX,
      onBlocked: options.onBlocked ?? 'keep',
      thread: options.keeperThread,
      silentMs: options.silentMs,
      heardCancel: options.heardCancel ?? ((_, cancel) => cancel),
    })
    this.#intake = new Intake({
      claiming: this.#claiming,
      clock: this.clock,
      machineMs: this.#machineMs,
      log,
      workerId: this.id,
      pollMaxMs: this.#settings.pollMaxMs,
      vacancies: () => this.#vacancies,
      held: () => this.#stock.size,
      heldMost: () => this.#stock.most,
      places: () => this.#leases.room,
      backlog: () => this.outbox.backlog,
      most: () => this.#most,
      hold: (portions, sentMs) => this.#hold(portions, sentMs),
      fill: () => this.#fill(),
    })
    for (const { policy } of definitions) this.#leases.expect(leaseWindowMs(policy))
    this.#pulse = new Pulse({
      ...system,
      workerId: this.id,
      clock: this.clock,
      isAlive: () => this.#leases.count > 0,
      look: (nowMs) => this.#look(nowMs),
    })
    this.#ears = new Ears({
      ...system,
      workerId: this.id,
      queues: new Set(queues.map(({ queue }) => queue)),
      serves: servedWords(serves, able),
      alerts: this.#alerts,
      wake: () => this.#intake.hinted(),
      alert: (dueMs) => this.#pulse.by(dueMs),
    })
    this.#membership = crew.join(this)
    if (options.signals === true) this.#signals = onSignals(() => this.stop())
    this.#intake.hinted()
  }

  get keeper(): 'thread' | 'main' {
    return this.#leases.keeper
  }

  get running(): number {
    return this.#running.count
  }

  get held(): number {
    return this.#leases.count
  }

  wake(): void {
    this.#intake.wake()
  }

  stop({ drain }: StopOptions = {}): Promise<void> {
    this.#stopping ??= this.#stop(drain === undefined ? this.#settings.drainMs : milliseconds('drain', drain))
    return this.#stopping
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  began(execution: Execution): void {
    this.#pulse.begun(execution.startedMs)
    this.#running.isLate(execution)
  }

  vacated(execution: Execution): void {
    const atOnce = this.#running.leave(execution)
    this.#stock.left(execution, atOnce)
    this.#fill()
  }

  settled(execution: Execution): void {
    this.#leases.remove(execution)
    this.#solitude.settled(execution)
    // This backlog may have kept the last execution that ended from asking for more: so it is asked for here.
    if (this.#running.count < this.#settings.concurrency) this.#intake.look()
  }

  failed(attempt: Omit<FailedAttempt, 'link'>, lastWord: LastWord): void {
    const failed = { ...attempt, link: this.#linkTo?.(attempt.job.id) }
    warnOf(this.log, failed, lastWord, this.#sealed)
    this.#onFailed?.(failed)
  }

  async rest(isItsTurn: boolean): Promise<void> {
    this.#resting = true
    this.#stock.giveBackAll('handed_back')
    if (!isItsTurn) this.#solitude.giveBack('handed_back')
    await this.#intake.pause()
    await this.#running.none()
    await this.outbox.idle()
  }

  goOn(): void {
    this.#resting = false
    this.#intake.resume()
  }

  /** How many jobs may be asked for at a time. Where some wait for a cell, none beyond those that have a place. */
  get #most(): number {
    return this.#stock.waiting === 0 ? this.#solitude.most : Math.min(this.#solitude.most, this.#vacancies)
  }

  get #vacancies(): number {
    return this.#settings.concurrency - this.#running.count - this.#stock.waiting
  }

  /**
   * Starts what is held, as far as there is room, and sees to it that more is held. While the worker goes away: what it could
   * not hand back, which would end with its lease otherwise.
   */
  #fill(): void {
    if (this.#filling || this.#resting || this.#mode === 'closing') return
    this.#filling = true
    try {
      while (this.#running.count < this.#settings.concurrency) {
        const execution = this.#stock.take()
        if (execution === undefined) break
        this.#running.start(execution)
      }
    } finally {
      this.#filling = false
    }
    this.#intake.look()
  }

  #hold(portions: readonly Portion[], sentMs: number): void {
    if (portions.length === 0) return
    const now = this.clock.monotonicMs()
    // Leases are counted from when they were last looked for: never later than the end the store has in mind.
    const storeNow = this.engine.now()
    for (const { draw, assignments } of portions) {
      for (const assignment of assignments) this.#holdOne(assignment, draw, sentMs, now, storeNow)
    }
    // The keeper must see the loop turn, also while held jobs only wait.
    this.#pulse.alive(now)
  }

  #holdOne(assignment: Assignment, draw: Draw, sentMs: number, now: number, storeNow: number): void {
    const { job, leaseExpiresAt, waitedMs = 0 } = assignment
    this.#leases.expect(leaseWindowMs(job.spec.kind.policy))
    const placed = this.#ways.of(job)
    const place = this.#leases.place(assignment, sentMs + waitedMs + leaseExpiresAt - storeNow)
    const execution = new Execution(this, assignment, placed?.handler ?? NOBODY, place, now)
    this.#leases.add(execution)
    if (placed === undefined) this.#unknownTypes.handBack(execution)
    else if (this.#stopping !== undefined && execution.isReturnable) execution.giveBack('shutdown')
    else if (this.#resting && execution.isReturnable) execution.giveBack('handed_back')
    else this.#put(execution, placed.way, draw, storeNow)
  }

  #put(execution: Execution, way: Way, draw: Draw, storeNow: number): void {
    if (way === 'alone') return this.#solitude.await(execution)
    this.#solitude.relax()
    this.#stock.put(execution, way, draw, storeNow)
  }

  /** Whatever depends on time, for all jobs at once. Answers when it is needed again. */
  #look(nowMs: number): number {
    this.#leases.pulse()
    const machineNow = this.#machineMs()
    const seen = this.#running.watch(nowMs, (execution) => this.#leases.leftMs(execution, machineNow))
    const staleMs = this.#stock.look(nowMs, seen.tookMs, this.#vacancies)
    // Not awaited: the watchdog must not depend on a store that may be away.
    this.#alerts.look(nowMs).catch(() => {})
    const pollMs = this.#stopping === undefined ? this.#intake.poll(nowMs) : Number.POSITIVE_INFINITY
    return Math.min(seen.nextMs, staleMs, this.#alerts.dueMs, pollMs)
  }

  /** Nothing runs any more, and nothing has begun when the last one ended. */
  async #drained(): Promise<void> {
    do await this.#running.none()
    while (this.#running.count > 0)
  }

  async #stop(drainMs: number): Promise<void> {
    const startMs = this.clock.monotonicMs()
    const leftMs = (share: number) => Math.max(0, startMs + drainMs * share - this.clock.monotonicMs())
    this.#mode = 'closing'
    await within(this.timers, Math.max(leftMs(0.5), SETTLE_WITHIN_MS), this.#intake.close())
    this.#stock.giveBackAll('shutdown')
    this.#solitude.giveBack('shutdown')
    this.#mode = 'draining'
    this.#fill()
    await within(this.timers, leftMs(0.7), this.#drained())
    for (const execution of this.#running.late.values()) execution.interrupt(new ShutdownError('The worker goes away.'))
    await within(this.timers, leftMs(0.85), this.#running.none())
    for (const execution of [...this.#running.late.values()]) execution.abandon()
    await within(this.timers, Math.max(leftMs(0.95), SETTLE_WITHIN_MS), this.outbox.idle())
    this.outbox.close()
    // If the store does not answer, this worker is forgotten when it has been silent for long.
    this.#membership[Symbol.dispose]()
    const closed = [
      this.#cells?.close(),
      this.#pulse.stop(),
      this.#leases.stop(),
      this.#presence.stop(),
      this.#ears.close(),
    ]
    await within(this.timers, Math.max(leftMs(1), LEAVE_WITHIN_MS), Promise.all(closed))
    this.#signals?.[Symbol.dispose]()
  }
}

const IN_A_CELL =
  'pawl: this process runs single jobs for a worker, and cannot be one. A module that is named as the `module` of a job must not start anything when it is imported.'
