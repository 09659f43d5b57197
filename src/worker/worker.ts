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
import { type Duration, parseDuration } from '../core/duration.ts'
import { DEFAULTS } from '../core/presets.ts'
import { leaseWindowMs } from '../core/timers.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { type Ids, realIds } from '../system/ids.ts'
import { type Log, silentLog } from '../system/log.ts'
import { machineMs } from '../system/machine-clock.ts'
import { realRandom } from '../system/random.ts'
import { type Service, service } from '../system/service.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { turn } from '../system/turn.ts'
import { CLAIM_MAX, Claiming, type QueueShare } from './claiming.ts'
import type { JobDefinition } from './definition.ts'
import { type Desk, Execution } from './execution.ts'
import { ShutdownError } from './interrupts.ts'
import { type KeeperThread, Keeping } from './keeping.ts'
import type { LeaseNews } from './lease-keeper.ts'
import { Outbox } from './outbox.ts'
import { Presence } from './presence.ts'
import { onSignals } from './signals.ts'

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

export interface StopOptions {
  /** How long handlers may take to finish. */
  readonly drain?: Duration | undefined
}

export interface WorkerOptions {
  /** Handlers at a time. */
  readonly concurrency?: number | undefined
  /** Queues to serve and their weights; unless given, those of the definitions, with equal weights. */
  readonly queues?: Readonly<Record<string, number>> | undefined
  readonly id?: string | undefined
  /** Jobs held ready at most, beyond those that run. */
  readonly prefetch?: number | undefined
  /** The longest pause between two looks at the queues, hints or no hints. */
  readonly poll?: Duration | undefined
  /** A lane that is passed over gains one priority in this time. */
  readonly ageing?: Duration | undefined
  readonly drain?: Duration | undefined
  /** SIGTERM and SIGINT drain this worker and end the process; a second one ends it at once. */
  readonly signals?: boolean | undefined
  /** Whether a handler that blocks the event loop keeps its lease. */
  readonly onBlocked?: 'keep' | 'lose' | undefined
}

/** What the composition root knows and a user need not say. */
export interface Surroundings {
  readonly clock?: Clock | undefined
  /** Monotonic, and the same in all threads. */
  readonly machineMs?: (() => number) | undefined
  readonly timers?: Timers | undefined
  readonly ids?: Ids | undefined
  readonly log?: Log | undefined
  readonly keeperThread?: KeeperThread | undefined
  readonly transaction?: Desk['transaction']
}

export function startWorker(
  engine: Engine,
  definitions: readonly JobDefinition[],
  options: WorkerOptions & Surroundings = {},
): Worker {
  return new JobWorker(engine, definitions, options)
}

const CONCURRENCY = 16
const PREFETCH = 1_000
const POLL_MS = 1_000
const POLL_SOON_MS = 50
const AGEING_MS = 15_000
const DRAIN_MS = 10_000
const UNKNOWN_TYPE_DELAY_MS = 10_000
/** Outcomes waiting to be written, above which no new work is taken on. */
const BACKLOG_MAX = 2_000
/** Longest time during which nothing but jobs is served. */
const TURN_EVERY_MS = 10
const LOOK_EVERY_MS = 100
/** For closing what was opened, once all is said. */
const LEAVE_WITHIN_MS = 1_000
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
  readonly #definitions: ReadonlyMap<string, JobDefinition>
  /** Names of the queues it serves, whoever they belong to: enough to tell most hints apart. */
  readonly #queues: ReadonlySet<string>
  readonly #concurrency: number
  readonly #pollMaxMs: number
  readonly #drainMs: number
  readonly #machineMs: () => number
  readonly #claiming: Claiming
  readonly #keeping: Keeping
  readonly #presence: Presence
  readonly #pulse: Service
  readonly #subscription: Promise<AsyncDisposable | undefined>
  readonly #signals: Disposable | undefined
  /** Claimed and not started, oldest first, from `#bufferHead` on. */
  #buffer: Execution[] = []
  #bufferHead = 0
  /** Handlers that did not answer at once, by job. */
  readonly #running = new Map<string, Execution>()
  #runningCount = 0
  /** By row of the lease table. */
  readonly #byRow: (Execution | undefined)[] = []
  #heldCount = 0
  #filling = false
  #claimed: Promise<void> | undefined
  /** There may be work that has not been asked for. */
  #hopeful = true
  #pollAtMs = 0
  #pollMs = POLL_SOON_MS
  #pulseAtMs = 0
  /** A handler has begun since the last pulse. */
  #begun = false
  #turnedMs = 0
  #stopping: Promise<void> | undefined
  #vacancy: (() => void) | undefined
  /** Running jobs that somebody may have changed, to be looked at together and not too often. */
  readonly #touched = new Set<string>()
  #lookAtMs = 0
  readonly #unknown = new Set<string>()

  constructor(engine: Engine, definitions: readonly JobDefinition[], options: WorkerOptions & Surroundings) {
    this.engine = engine
    this.clock = options.clock ?? realClock
    this.timers = options.timers ?? realTimers
    this.log = options.log ?? silentLog
    this.id = options.id ?? (options.ids ?? realIds(realRandom)).workerId()
    this.actor = `worker:${this.id}`
    this.transaction = options.transaction
    this.outbox = new Outbox({ engine, timers: this.timers, log: this.log })
    this.#definitions = new Map(definitions.map((definition) => [definition.type, definition]))
    this.#concurrency = options.concurrency ?? CONCURRENCY
    this.#pollMaxMs = milliseconds(options.poll, POLL_MS)
    this.#drainMs = milliseconds(options.drain, DRAIN_MS)
    this.#machineMs = options.machineMs ?? machineMs
    const prefetchMax = options.prefetch ?? PREFETCH
    const queues = sharesOf(definitions, options.queues)
    this.#queues = new Set(queues.map(({ queue }) => queue))
    const about = {
      engine,
      timers: this.timers,
      log: this.log,
      workerId: this.id,
      concurrency: this.#concurrency,
      queues,
    }
    this.#presence = new Presence({ ...about, running: () => this.#runningCount })
    this.#claiming = new Claiming({ ...about, prefetchMax, ageMs: milliseconds(options.ageing, AGEING_MS) })
    this.#keeping = new Keeping({
      engine,
      timers: this.timers,
      log: this.log,
      nowMs: this.#machineMs,
      capacity: this.#concurrency + prefetchMax + BACKLOG_MAX + 2 * CLAIM_MAX,
      onBlocked: options.onBlocked ?? 'keep',
      thread: options.keeperThread,
      tell: (news) => this.#hear(news),
    })
    for (const { policy } of definitions) this.#expect(leaseWindowMs(policy))
    const round = () => this.#beat()
    this.#pulse = service({
      name: `worker ${this.id}`,
      everyMs: PULSE_MAX_MS,
      timers: this.timers,
      log: this.log,
      round,
    })
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
    this.#hopeful = true
    this.#claim()
  }

  stop({ drain }: StopOptions = {}): Promise<void> {
    this.#stopping ??= this.#stop(milliseconds(drain, this.#drainMs))
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
  }

  /** Starts what is held, as far as there is room, and sees to it that more is held. */
  #fill(): void {
    if (this.#filling) return
    this.#filling = true
    while (this.#runningCount < this.#concurrency && this.#bufferHead < this.#buffer.length) {
      const execution = this.#buffer[this.#bufferHead] as Execution
      this.#bufferHead += 1
      // Lost or handed back while it was held.
      if (execution.mode !== 'held') continue
      this.#runningCount += 1
      execution.start()
    }
    if (this.#bufferHead === this.#buffer.length && this.#bufferHead > 0) {
      this.#buffer = []
      this.#bufferHead = 0
    }
    this.#filling = false
    this.#claim()
  }

  #claim(): void {
    if (this.#claimed !== undefined || !this.#hopeful || this.#stopping !== undefined) return
    if (this.#wanted() > 0) this.#claimed = this.#claimNow()
  }

  /** How many jobs to ask for; 0 while enough is held to keep all handlers busy. */
  #wanted(): number {
    const { prefetch } = this.#claiming
    const buffered = this.#buffer.length - this.#bufferHead
    if (buffered > prefetch / 2 || this.outbox.backlog > BACKLOG_MAX) return 0
    const room = this.#concurrency - this.#runningCount + prefetch - buffered
    return Math.min(room, CLAIM_MAX, this.#keeping.table.room)
  }

  async #claimNow(): Promise<void> {
    if (this.clock.monotonicMs() - this.#turnedMs > TURN_EVERY_MS) {
      await turn()
      this.#turnedMs = this.clock.monotonicMs()
    }
    const limit = this.#wanted()
    if (limit > 0 && this.#stopping === undefined) {
      this.#hopeful = false
      try {
        const sentMs = this.#machineMs()
        this.#received(await this.#claiming.claim(limit), limit, sentMs)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        this.log.warn('claim failed', { worker_id: this.id, reason })
      }
    }
    this.#claimed = undefined
    this.#fill()
  }

  #received(assignments: readonly Assignment[], limit: number, sentMs: number): void {
    const now = this.clock.monotonicMs()
    if (assignments.length === limit) this.#hopeful = true
    this.#pollMs = assignments.length > 0 ? POLL_SOON_MS : Math.min(this.#pollMs * 2, this.#pollMaxMs)
    this.#pollAtMs = now + this.#pollMs
    // Leases are counted from when they were asked for: never later than the end the store has in mind.
    const storeNow = this.engine.now()
    if (this.#heldCount === 0 && assignments.length > 0) this.#keeping.wake()
    for (const assignment of assignments) this.#hold(assignment, sentMs + assignment.leaseExpiresAt - storeNow, now)
  }

  #hold(assignment: Assignment, expiresMs: number, nowMs: number): void {
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
    const definition = this.#definitions.get(kind.type)
    const execution = new Execution(this, assignment, definition ?? NOBODY, place, nowMs)
    this.#byRow[place.row] = execution
    this.#heldCount += 1
    if (definition === undefined) this.#handBack(execution)
    else if (this.#stopping !== undefined) execution.giveBack('shutdown')
    else this.#buffer.push(execution)
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
    let nextMs = Math.min(this.#watch(now), this.#giveBackStale(now))
    if (this.#heldCount > 0) nextMs = Math.min(nextMs, now + PULSE_MAX_MS)
    // Where handlers have begun others will: the next of them finds the pulse near enough and need not wake it.
    if (this.#begun) nextMs = Math.min(nextMs, now + PULSE_BUSY_MS)
    this.#begun = false
    if (this.#touched.size > 0 && now >= this.#lookAtMs) await this.#lookAtTouched(now)
    if (this.#touched.size > 0) nextMs = Math.min(nextMs, this.#lookAtMs)
    if (this.#stopping === undefined) {
      if (now >= this.#pollAtMs) {
        this.#pollAtMs = now + this.#pollMs
        this.wake()
      }
      nextMs = Math.min(nextMs, this.#pollAtMs)
    }
    nextMs = Math.min(nextMs, now + IDLE_MS)
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

  /** What has been held for half a lease is somebody else's chance. */
  #giveBackStale(now: number): number {
    for (let i = this.#bufferHead; i < this.#buffer.length; i += 1) {
      const execution = this.#buffer[i] as Execution
      const dueMs = execution.heldSinceMs + leaseWindowMs(execution.assignment.job.spec.kind.policy) / 2
      if (dueMs > now) return dueMs
      execution.giveBack('handed_back')
    }
    return Number.POSITIVE_INFINITY
  }

  async #subscribe(): Promise<AsyncDisposable | undefined> {
    try {
      return await this.engine.subscribe((hint) => this.#hint(hint))
    } catch (error) {
      this.log.warn('no hints: work is found by polling', { worker_id: this.id, reason: String(error) })
      return undefined
    }
  }

  #hint(hint: Hint): void {
    if (hint.about === 'anything' || (hint.about === 'queue' && this.#queues.has(hint.queue))) this.wake()
    // Somebody has changed a job that runs here: perhaps it is to be cancelled.
    const before = this.#touched.size
    if (hint.about === 'anything') for (const id of this.#running.keys()) this.#touched.add(id)
    else if (hint.about === 'job' && this.#running.has(hint.id)) this.#touched.add(hint.id)
    if (before === 0 && this.#touched.size > 0 && this.#pulseAtMs > this.#lookAtMs) this.#pulse.wake()
  }

  async #lookAtTouched(now: number): Promise<void> {
    this.#lookAtMs = now + LOOK_EVERY_MS
    const executions = [...this.#touched].map((id) => this.#running.get(id)).filter((found) => found !== undefined)
    this.#touched.clear()
    if (executions.length === 0) return
    const { items } = await this.engine.load(executions.map(({ assignment }) => ({ id: assignment.job.id })))
    for (const [i, execution] of executions.entries()) {
      const job = items[i]?.job
      if (job?.lease?.fence !== execution.assignment.fence) {
        if (execution.mode === 'running') execution.lose('The job has another owner, or none.')
      } else if (job.cancel !== undefined) execution.cancelRequested(job.cancel)
    }
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
    await this.#within(leftMs(0.5), this.#claimed)
    for (const execution of this.#buffer.slice(this.#bufferHead)) execution.giveBack('shutdown')
    await this.#vacated(leftMs(0.7))
    for (const execution of this.#running.values()) execution.interrupt(new ShutdownError('The worker goes away.'))
    await this.#vacated(leftMs(0.85))
    for (const execution of [...this.#running.values()]) execution.abandon()
    await this.#within(leftMs(0.95), this.outbox.idle())
    this.outbox.close()
    // Where the store does not answer there is nobody to take leave of.
    await this.#within(
      Math.max(leftMs(1), LEAVE_WITHIN_MS),
      Promise.all([this.#pulse.stop(), this.#keeping.stop(), this.#presence.stop(), this.#unsubscribe()]),
    )
    this.#signals?.[Symbol.dispose]()
  }

  async #unsubscribe(): Promise<void> {
    await (await this.#subscription)?.[Symbol.asyncDispose]()
  }

  /** Until it is done, or for so long. */
  async #within(ms: number, done: Promise<unknown> | undefined): Promise<void> {
    if (done === undefined) return
    const enough = new AbortController()
    const first = done.then(() => enough.abort())
    await Promise.race([first, this.timers.sleep(ms, enough.signal)])
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
const NOBODY: JobDefinition = { type: '', tenant: '', queue: '', policy: DEFAULTS, run: () => undefined }

function sharesOf(
  definitions: readonly JobDefinition[],
  weights: Readonly<Record<string, number>> | undefined,
): readonly QueueShare[] {
  const shares = new Map<string, QueueShare>()
  for (const { tenant, queue } of definitions) {
    const weight = weights === undefined ? 1 : weights[queue]
    if (weight !== undefined) shares.set(JSON.stringify([tenant, queue]), { tenant, queue, weight })
  }
  return [...shares.values()]
}

function milliseconds(duration: Duration | undefined, otherwise: number): number {
  if (duration === undefined) return otherwise
  const ms = parseDuration(duration)
  if (ms === undefined || ms < 0) throw new TypeError(`${String(duration)} is not a duration: ms, or text like '30s'`)
  return ms
}
