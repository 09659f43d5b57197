/**
 * The worker: claims jobs, runs their handlers, settles what became of them.
 *
 *   working   claims whenever there is room. Leaves by `stop`.
 *   draining  no new claims; what is held is handed back, what runs may finish until the drain time is nearly over,
 *             then it is told to stop and handed back. Leaves when the last outcome is written.
 *   stopped   nothing runs, nothing is held, no timer, thread or listener is left.
 *
 * One loop with one timer serves all jobs (the pulse): a timer per job would cost more than most jobs do.
 */
import { leaseWindowMs } from '../core/timers.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { realIds } from '../system/ids.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { machineMs } from '../system/machine-clock.ts'
import { realRandom } from '../system/random.ts'
import { type Service, service } from '../system/service.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { Alerts } from './alerts.ts'
import { CLAIM_MAX, Claiming } from './claiming.ts'
import type { JobDefinition } from './definition.ts'
import { type Desk, Execution } from './execution.ts'
import { type Handler, handlerHere } from './handler.ts'
import { BACKLOG_MAX, Intake } from './intake.ts'
import { ShutdownError } from './interrupts.ts'
import { Keeping } from './keeping.ts'
import type { LeaseNews } from './lease-keeper.ts'
import { Outbox } from './outbox.ts'
import { Prefetched } from './prefetched.ts'
import { Presence } from './presence.ts'
import { onSignals } from './signals.ts'
import { within } from './within.ts'
import {
  milliseconds,
  type StopOptions,
  type Surroundings,
  settingsOf,
  type WorkerOptions,
  type WorkerSettings,
} from './worker-options.ts'

export type { StopOptions, Surroundings, WorkerOptions } from './worker-options.ts'

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

const UNKNOWN_TYPE_DELAY_MS = 10_000
/** However short the drain: for what was claimed to come in, and for the last outcomes to be written. */
const SETTLE_WITHIN_MS = 250
/** For closing what was opened, once all is said. */
const LEAVE_WITHIN_MS = 250
const PULSE_MIN_MS = 5
const PULSE_BUSY_MS = 100
const PULSE_MAX_MS = 1_000
const IDLE_MS = 3_600_000

class JobWorker implements Worker, Desk {
  readonly id: string
  readonly engine: Engine
  readonly outbox: Outbox
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly actor: string
  readonly transaction: Desk['transaction']
  readonly #handlers: ReadonlyMap<string, Handler>
  /** Names of the queues it serves, whoever they belong to: enough to tell most hints apart. */
  readonly #queues: ReadonlySet<string>
  readonly #settings: WorkerSettings
  readonly #machineMs: () => number
  readonly #claiming: Claiming
  readonly #intake: Intake
  readonly #keeping: Keeping
  readonly #presence: Presence
  readonly #pulse: Service
  readonly #subscription: Promise<AsyncDisposable | undefined>
  readonly #signals: Disposable | undefined
  readonly #prefetched = new Prefetched()
  /** Handlers that did not answer at once, by job. */
  readonly #running = new Map<string, Execution>()
  readonly #alerts: Alerts
  #runningCount = 0
  /** By row of the lease table. */
  readonly #byRow: (Execution | undefined)[] = []
  #heldCount = 0
  #filling = false
  #pulseAtMs = 0
  /** A handler has begun since the last pulse. */
  #begun = false
  #stopping: Promise<void> | undefined
  #vacancy: (() => void) | undefined
  readonly #unknown = new Set<string>()

  constructor(engine: Engine, definitions: readonly JobDefinition[], options: WorkerOptions & Surroundings) {
    this.engine = engine
    this.clock = options.clock ?? realClock
    this.timers = options.timers ?? realTimers
    this.log = harmless(options.log ?? silentLog)
    this.id = options.id ?? (options.ids ?? realIds(realRandom)).workerId()
    this.actor = `worker:${this.id}`
    this.transaction = options.transaction
    this.outbox = new Outbox({ engine, timers: this.timers, log: this.log })
    this.#handlers = new Map(definitions.map((definition) => [definition.type, handlerHere(definition)]))
    this.#machineMs = options.machineMs ?? machineMs
    this.#settings = settingsOf(definitions, options)
    const { concurrency, prefetchMax, queues } = this.#settings
    this.#queues = new Set(queues.map(({ queue }) => queue))
    this.#alerts = new Alerts(engine, this.#running)
    const system = { engine, timers: this.timers, log: this.log }
    const running = () => this.#runningCount
    this.#presence = new Presence({ ...system, workerId: this.id, concurrency, queues, running })
    this.#claiming = new Claiming({ ...this.#settings, engine, workerId: this.id })
    this.#keeping = new Keeping({
      ...system,
      nowMs: this.#machineMs,
      capacity: concurrency + prefetchMax + BACKLOG_MAX + 2 * CLAIM_MAX,
      onBlocked: options.onBlocked ?? 'keep',
      thread: options.keeperThread,
      tell: (news) => this.#hear(news),
    })
    this.#intake = new Intake({
      engine,
      claiming: this.#claiming,
      clock: this.clock,
      machineMs: this.#machineMs,
      log: this.log,
      workerId: this.id,
      pollMaxMs: this.#settings.pollMaxMs,
      vacancies: () => concurrency - this.#runningCount,
      prefetched: () => this.#prefetched.size,
      places: () => this.#keeping.table.room,
      backlog: () => this.outbox.backlog,
      hold: (assignments, sentMs) => this.#hold(assignments, sentMs),
      fill: () => this.#fill(),
    })
    for (const { policy } of definitions) this.#expect(leaseWindowMs(policy))
    const round = () => this.#beat()
    const { timers, log } = this
    this.#pulse = service({ name: `worker ${this.id}`, everyMs: PULSE_MAX_MS, timers, log, round })
    this.#pulse.start()
    this.#subscription = this.#subscribe()
    if (options.signals === true) this.#signals = onSignals(() => this.stop())
    this.wake()
  }

  get keeper(): 'thread' | 'main' {
    return this.#keeping.where
  }

  get running(): number {
    return this.#runningCount
  }

  get held(): number {
    return this.#heldCount
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
    this.#begun = true
    if (this.#pulseAtMs > execution.startedMs + PULSE_BUSY_MS) {
      this.#pulseAtMs = execution.startedMs
      this.#pulse.wake()
    }
    this.#running.set(execution.assignment.job.id, execution)
  }

  vacated(execution: Execution): void {
    this.#running.delete(execution.assignment.job.id)
    this.#runningCount -= 1
    this.#claiming.took(execution.tookMs)
    if (this.#stopping === undefined) this.#fill()
    else if (this.#runningCount === 0) this.#vacancy?.()
  }

  settled({ place }: Execution): void {
    this.#keeping.table.remove(place)
    this.#byRow[place.row] = undefined
    this.#heldCount -= 1
    // Nobody else might: what kept the last handler that ended from asking for more may have been this very backlog.
    if (this.#runningCount < this.#settings.concurrency) this.#intake.look()
  }

  /** Starts what is held, as far as there is room, and sees to it that more is held. */
  #fill(): void {
    if (this.#filling) return
    this.#filling = true
    try {
      while (this.#runningCount < this.#settings.concurrency) {
        const execution = this.#prefetched.take()
        if (execution === undefined) break
        this.#runningCount += 1
        execution.start()
      }
    } finally {
      this.#filling = false
    }
    this.#intake.look()
  }

  #hold(assignments: readonly Assignment[], sentMs: number): void {
    if (assignments.length === 0) return
    if (this.#heldCount === 0) this.#keeping.wake()
    const now = this.clock.monotonicMs()
    // Leases are counted from when they were asked for: never later than the end the store has in mind.
    const storeNow = this.engine.now()
    for (const assignment of assignments) this.#holdOne(assignment, sentMs + assignment.leaseExpiresAt - storeNow, now)
  }

  #holdOne(assignment: Assignment, expiresMs: number, nowMs: number): void {
    const { job, fence } = assignment
    const { kind } = job.spec
    const windowMs = leaseWindowMs(kind.policy)
    this.#expect(windowMs)
    const place = this.#keeping.table.add({
      id: job.id,
      generation: job.generation,
      attempt: job.attempt,
      fence,
      expiresMs,
      windowMs,
      beatEveryMs: kind.policy.heartbeat ? kind.policy.heartbeatMs : 0,
    })
    const handler = this.#handlers.get(kind.type)
    const execution = new Execution(this, assignment, handler ?? NOBODY, place, nowMs)
    this.#byRow[place.row] = execution
    this.#heldCount += 1
    if (handler === undefined) this.#handBack(execution)
    else if (this.#stopping !== undefined) execution.giveBack('shutdown')
    else this.#prefetched.add(execution)
  }

  #handBack(execution: Execution): void {
    const { type, queue } = execution.assignment.job.spec.kind
    if (!this.#unknown.has(type)) {
      this.#unknown.add(type)
      this.log.warn('no handler for this type of job: handed back', { type, queue, worker_id: this.id })
    }
    execution.giveBack('handed_back', this.engine.now() + UNKNOWN_TYPE_DELAY_MS)
  }

  #expect(windowMs: number): void {
    this.#claiming.expect(windowMs)
    this.#keeping.expect(windowMs)
  }

  /** The pulse: whatever depends on time, for all jobs at once. Answers when it is needed again. */
  async #beat(): Promise<number> {
    this.#keeping.table.pulse()
    const now = this.clock.monotonicMs()
    let nextMs = Math.min(this.#watch(now), this.#prefetched.giveBackStale(now), now + IDLE_MS)
    if (this.#heldCount > 0) nextMs = Math.min(nextMs, now + PULSE_MAX_MS)
    // Where handlers have begun others will: the next of them finds the pulse near enough and need not wake it.
    if (this.#begun) nextMs = Math.min(nextMs, now + PULSE_BUSY_MS)
    this.#begun = false
    // Not waited for: the watchdog must not depend on a store that may be away.
    this.#alerts.look(now).catch(() => {})
    nextMs = Math.min(nextMs, this.#alerts.dueMs)
    if (this.#stopping === undefined) nextMs = Math.min(nextMs, this.#intake.poll(now))
    this.#pulseAtMs = nextMs
    return Math.max(PULSE_MIN_MS, nextMs - this.clock.monotonicMs())
  }

  /** The watchdog: a handler is stopped before its lease can end elsewhere. */
  #watch(now: number): number {
    const machineNow = this.#machineMs()
    const { table } = this.#keeping
    let nextMs = Number.POSITIVE_INFINITY
    for (const execution of this.#running.values()) {
      const windowMs = leaseWindowMs(execution.assignment.job.spec.kind.policy)
      const spareMs = table.leftMs(execution.place, machineNow) - windowMs / 10
      if (spareMs <= 0) execution.lose('The lease could not be renewed in time.')
      else nextMs = Math.min(nextMs, now + spareMs, execution.pulse(now))
      this.#claiming.tookAtLeast(now - execution.startedMs)
    }
    return nextMs
  }

  async #subscribe(): Promise<AsyncDisposable | undefined> {
    try {
      const subscription = await this.engine.subscribe((hint) => this.#hint(hint))
      // Until now nobody heard anything: a job that was claimed meanwhile may have been cancelled since.
      this.#hint({ about: 'anything' })
      return subscription
    } catch (error) {
      this.log.warn('no hints: work is found by polling', { worker_id: this.id, reason: String(error) })
      return undefined
    }
  }

  #hint(hint: Hint): void {
    if (hint.about === 'anything' || (hint.about === 'queue' && this.#queues.has(hint.queue))) this.wake()
    const beforeMs = this.#alerts.dueMs
    this.#alerts.hint(hint)
    if (this.#alerts.dueMs < Math.min(beforeMs, this.#pulseAtMs)) this.#pulse.wake()
  }

  #hear(news: readonly LeaseNews[]): void {
    for (const { row, seq, lost, cancel } of news) {
      const execution = this.#byRow[row]
      if (execution === undefined || execution.place.seq !== seq) continue
      if (cancel !== undefined) execution.cancelRequested(cancel)
      // An outcome that is on its way ends the lease too: its own answer will tell.
      if (lost !== undefined && execution.mode !== 'ending') execution.lose(lost)
    }
  }

  async #stop(drainMs: number): Promise<void> {
    const startMs = this.clock.monotonicMs()
    const leftMs = (share: number) => Math.max(0, startMs + drainMs * share - this.clock.monotonicMs())
    await within(this.timers, Math.max(leftMs(0.5), SETTLE_WITHIN_MS), this.#intake.close())
    this.#prefetched.giveBackAll()
    await this.#vacated(leftMs(0.7))
    for (const execution of this.#running.values()) execution.interrupt(new ShutdownError('The worker goes away.'))
    await this.#vacated(leftMs(0.85))
    for (const execution of [...this.#running.values()]) execution.abandon()
    await within(this.timers, Math.max(leftMs(0.95), SETTLE_WITHIN_MS), this.outbox.idle())
    this.outbox.close()
    // Where the store does not answer there is nobody to take leave of.
    const closed = [this.#pulse.stop(), this.#keeping.stop(), this.#presence.stop(), this.#unsubscribe()]
    await within(this.timers, Math.max(leftMs(1), LEAVE_WITHIN_MS), Promise.all(closed))
    this.#signals?.[Symbol.dispose]()
  }

  async #unsubscribe(): Promise<void> {
    await (await this.#subscription)?.[Symbol.asyncDispose]()
  }

  /** Until no handler runs, or for so long. */
  async #vacated(withinMs: number): Promise<void> {
    if (this.#runningCount === 0) return
    const enough = new AbortController()
    this.#vacancy = () => enough.abort()
    await this.timers.sleep(withinMs, enough.signal)
    this.#vacancy = undefined
  }
}

/** Stands for the handler that a worker does not have. */
const NOBODY: Handler = { input: undefined, output: undefined, run: () => undefined, undo: async () => {} }
