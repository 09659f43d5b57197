/**
 * Hints. Listeners of this process are told at once; other processes by NOTIFY, which rides along with the commit that
 * makes the work, or follows a moment later where there is much of it, and is never inside a transaction of a caller's.
 * Notifications of other processes come in by `waiting/listening.ts`, for as long as this process has listeners.
 *
 * Riding along saves a statement and its round trip; but a commit that notifies holds a lock which all others that do
 * wait for. So it is for single jobs, whose latency a caller may notice, and paid for by the job: a few per millisecond
 * on average, some in advance. A process that enqueues more notifies every ten milliseconds. (One per millisecond: 1,500 jobs/s
 * waited 5.5 ms instead of 1.8.)
 *
 * Modes of what other processes are to be told:
 *   idle      nothing waits to be notified, no timer runs.
 *   riding    a commit took everything that waited, and its NOTIFY leaves with it. Where the commit fails, or nobody knows, `failed`
 *             puts it back.
 *   gathering the timer runs: what comes until then is sent in one NOTIFY. Jobs that may be claimed are waited for up to 10 ms, ended
 *             jobs 20 to 100 ms.
 *   closed    what was left has been sent; calls are passed over.
 *
 * Invariant: what is in `#queues` or `#jobs` is on nobody's way yet, and has a timer. A NOTIFY that fails is lost, as hints may be:
 * what it announced is found by polling.
 */
import { createHash } from 'node:crypto'
import { idText } from '../../../core/id.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Hint } from '../../store.ts'
import type { Route } from '../connection/route.ts'
import type { Statements } from '../connection/statements.ts'
import type { QueueSide, Run } from '../names/kinds.ts'
import type { Sides } from '../names/sides.ts'
import { Listening } from './listening.ts'
import type { News } from './news.ts'

export interface HintParts {
  /** For LISTEN: past a pooler, where there is one. */
  readonly route: Route
  readonly schema: string
  readonly run: Run
  readonly statements: Statements
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Told of every hint, before the listeners are. */
  readonly sides: Pick<Sides, 'heard' | 'heardLimited' | 'abreast'>
  /** Called with notifications on this process's own channel. */
  readonly heard: (payload: string) => void
}

/** Ended jobs wait for company, and between two NOTIFYs about them while there are many. */
const GATHER_MS = 20
const BUSY_MS = 100
/** Jobs whose NOTIFY may ride along: so many per millisecond, and saved up. What was overdrawn is waited for, up to a time. */
const JOBS_PER_MS = 4
const SAVED_MAX = 40
const SOON_MAX_MS = 10
/** NOTIFY takes fewer than 8000 bytes. A longer payload is replaced by one that says `anything`. */
const PAYLOAD_MAX = 7_999
/** Jobs, and queues, named in one NOTIFY; with more it says `anything`. */
const JOBS_MAX = 400
const QUEUES_MAX = 100

/** `limited`: where jobs were let in; only who has been told of that looks for them. */
type Queue = QueueSide & { readonly limited?: true | undefined }

/** A NOTIFY that leaves with the inserting commit. `rest` replaces `all` where the commit gave all its jobs to a parked claim. */
export interface Ride {
  readonly values: readonly [channel: string, all: string, rest: string | null]
  readonly queues: ReadonlyMap<string, Queue>
  readonly jobs: Jobs
}

/** Jobs by number, and the queue of each. */
type Jobs = ReadonlyMap<number, Queue>

export class Hints {
  readonly #parts: HintParts
  readonly #channel: string
  readonly #self: string
  readonly #listeners = new Set<(hint: Hint) => void>()
  #unheard: Hint[] = []
  #queues = new Map<string, Queue>()
  #jobs = new Map<number, Queue>()
  #timer: Disposable | undefined
  /** When it goes off. */
  #dueAt = 0
  #sentAt = Number.NEGATIVE_INFINITY
  #saved = SAVED_MAX
  #savedAt = 0
  #sending: Promise<void> = Promise.resolve()
  readonly #listening: Listening
  #closed = false

  constructor(parts: HintParts) {
    this.#parts = parts
    this.#channel = `pawl_${createHash('sha256').update(parts.schema).digest('hex').slice(0, 16)}`
    this.#self = parts.random.hex64()
    this.#listening = new Listening({
      ...parts,
      channel: this.#channel,
      heard: (payload) => this.#heard(payload),
      heardAlone: parts.heard,
      // The connection was away: notifications may have been missed.
      again: () => this.#tell({ about: 'anything' }),
    })
  }

  /** The channel that only this process listens on; absent while it does not listen. */
  get ownChannel(): string | undefined {
    return this.#listening.ownChannel
  }

  /** A notification was sent to this process and did not arrive: the connection that listens is replaced. */
  deaf(): void {
    this.#listening.deaf()
  }

  /** The NOTIFY for the commit that makes this work; undefined where it is to follow a moment later. */
  ride(queues: Iterable<Queue>, jobs: number): Ride | undefined {
    if (this.#closed || jobs === 0 || this.#save() <= 0) return undefined
    this.#spend(jobs)
    const own = new Map(Array.from(queues, (queue) => [nameOf(queue), queue]))
    return this.#take(own)
  }

  /** The commit it rode with failed, or its outcome is unknown: what it was to say is said again. */
  failed({ queues, jobs }: Ride): void {
    for (const queue of queues.values()) this.work([queue], 0)
    for (const [number, queue] of jobs) this.job(number, queue)
  }

  /** Tells that these queues have work, or will. `rode`: other processes were told by the commit itself. */
  work(queues: Iterable<Queue>, jobs: number, rode = false): void {
    if (this.#closed) return
    for (const queue of queues) {
      this.#tell({ about: 'queue', tenant: queue.tenant, queue: queue.queue, needs: queue.needs })
      if (!rode) this.#queues.set(nameOf(queue), queue)
    }
    if (rode || this.#queues.size === 0) return
    const saved = this.#save()
    this.#spend(jobs)
    this.#gather(Math.max(0, -saved / JOBS_PER_MS))
  }

  /** Tells what a commit has left for others to hear. */
  news({ queues, jobs }: News): void {
    for (const [number, of] of jobs) this.job(number, of)
    for (const queue of queues) this.work([queue], 1)
  }

  /** Tells that a queue may have work, in its lanes and in all their side lanes. */
  workAbreast(tenant: string, queue: string): void {
    this.work(this.#parts.sides.abreast(tenant, queue), 1)
  }

  /** Tells of a job that has ended, or whose owner is to hear something. */
  job(number: number, of: Queue): void {
    if (this.#closed) return
    if (this.#listeners.size > 0) {
      this.#tell({ about: 'job', id: idText(number), tenant: of.tenant, queue: of.queue })
    }
    if (this.#jobs.size <= JOBS_MAX) this.#jobs.set(number, of)
    if (this.#timer === undefined) this.#gather(Math.max(GATHER_MS, BUSY_MS - this.#sinceMs()))
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    const listener = (hint: Hint) => wake(hint)
    if (this.#closed) throw new Error('pawl: the store is closed')
    this.#listeners.add(listener)
    await this.#listening.start()
    return { [Symbol.asyncDispose]: () => this.#unsubscribe(listener) }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.clear()
    // A process that enqueues and goes has told nobody yet.
    if (this.#queues.size + this.#jobs.size > 0) this.#sending = this.#sending.then(() => this.#send())
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    const listened = this.#listening.stop()
    await this.#sending
    await listened
  }

  async #unsubscribe(listener: (hint: Hint) => void): Promise<void> {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    await this.#listening.stop()
  }

  /** Never inside the call that tells; all that is told in one turn in one go: each by itself cost a settled job 1 µs. */
  #tell(hint: Hint): void {
    this.#parts.sides.heard(hint)
    if (this.#listeners.size === 0 || this.#unheard.push(hint) > 1) return
    queueMicrotask(() => {
      const hints = this.#unheard
      this.#unheard = []
      for (const each of hints) for (const listener of this.#listeners) listener(each)
    })
  }

  #sinceMs(): number {
    return this.#parts.clock.monotonicMs() - this.#sentAt
  }

  #save(): number {
    const now = this.#parts.clock.monotonicMs()
    this.#saved = Math.min(SAVED_MAX, this.#saved + (now - this.#savedAt) * JOBS_PER_MS)
    this.#savedAt = now
    return this.#saved
  }

  #spend(jobs: number): void {
    this.#saved = Math.max(-SOON_MAX_MS * JOBS_PER_MS, this.#saved - jobs)
  }

  /** Sees to it that it is sent within this time, whatever was planned before. */
  #gather(withinMs: number): void {
    const dueAt = this.#parts.clock.monotonicMs() + withinMs
    if (this.#timer !== undefined && this.#dueAt <= dueAt) return
    this.#timer?.[Symbol.dispose]()
    this.#dueAt = dueAt
    const send = () => {
      this.#timer = undefined
      this.#sending = this.#send()
    }
    // The shortest timer takes a millisecond and more.
    this.#timer = withinMs > 0 ? this.#parts.timers.after(withinMs, send) : soon(send)
  }

  async #send(): Promise<void> {
    if (this.#queues.size + this.#jobs.size === 0) return
    const [channel, all] = this.#take().values
    // A hint that cannot be sent is lost, and hints may be.
    await this.#parts.run(this.#parts.statements.notify, [channel, all]).catch(() => {})
  }

  /** Takes everything that waits to be notified. `own`: queues of the commit it rides with, whose jobs a parked claim may take. */
  #take(own: ReadonlyMap<string, Queue> = NO_QUEUES): Ride {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#sentAt = this.#parts.clock.monotonicMs()
    const jobs = this.#jobs
    const others = new Map([...this.#queues].filter(([name]) => !own.has(name)))
    const queues = new Map([...others, ...own])
    this.#queues = new Map()
    this.#jobs = new Map()
    const rest = others.size + jobs.size === 0 ? null : this.#payload(others, jobs)
    return { values: [this.#channel, this.#payload(queues, jobs), rest], queues, jobs }
  }

  #payload(queues: ReadonlyMap<string, Queue>, jobs: Jobs): string {
    if (queues.size <= QUEUES_MAX && jobs.size <= JOBS_MAX) {
      const q: [string, string][] = []
      const d: [string, string, string][] = []
      const l: [string, string, string?][] = []
      for (const { tenant, queue, needs, limited } of queues.values()) {
        if (limited === true) l.push(needs === undefined ? [tenant, queue] : [tenant, queue, needs])
        else if (needs === undefined) q.push([tenant, queue])
        else d.push([tenant, queue, needs])
      }
      const sides = { ...(d.length > 0 && { d }), ...(l.length > 0 && { l }) }
      const payload = ascii(JSON.stringify({ s: this.#self, q, ...sides, n: byQueue(jobs) } satisfies Payload))
      if (payload.length <= PAYLOAD_MAX) return payload
    }
    return JSON.stringify({ s: this.#self, a: 1 } satisfies Payload)
  }

  #heard(payload: string): void {
    const { s, a, q = [], d = [], l = [], n = [] } = JSON.parse(payload) as Payload
    const areSides = l.every((each) => areTexts(2)(each) || areTexts(3)(each))
    if (s === this.#self || !q.every(areTexts(2)) || !d.every(areTexts(3)) || !areSides || !n.every(areJobs)) return
    if (a === 1) this.#tell({ about: 'anything' })
    for (const [tenant, queue, needs] of l) this.#parts.sides.heardLimited({ tenant, queue, needs })
    for (const [tenant, queue, needs] of [...q, ...d, ...l]) this.#tell({ about: 'queue', tenant, queue, needs })
    for (const [tenant, queue, numbers] of n) {
      for (const number of numbers) this.#tell({ about: 'job', id: idText(number), tenant, queue })
    }
  }
}

/** At the end of this turn of the microtask queue, unless disposed of before. */
function soon(fn: () => void): Disposable {
  let off = false
  queueMicrotask(() => {
    if (!off) fn()
  })
  return {
    [Symbol.dispose]() {
      off = true
    },
  }
}

const NO_QUEUES: ReadonlyMap<string, Queue> = new Map()

const nameOf = ({ tenant, queue, needs, limited }: Queue): string => JSON.stringify([tenant, queue, needs, limited])

/** Jobs of one kind share it, so most are told apart without a look at their names. */
function byQueue(jobs: Jobs): readonly (readonly [string, string, readonly number[]])[] {
  const numbers = new Map<Queue, number[]>()
  for (const [number, queue] of jobs) {
    const others = numbers.get(queue)
    if (others === undefined) numbers.set(queue, [number])
    else others.push(number)
  }
  return Array.from(numbers, ([{ tenant, queue }, own]) => [tenant, queue, own])
}

const areTexts =
  (length: number) =>
  (elements: readonly unknown[]): boolean =>
    elements.length === length && elements.every((each) => typeof each === 'string')

const areJobs = ([tenant, queue, numbers]: readonly unknown[]): boolean =>
  areTexts(2)([tenant, queue]) && Array.isArray(numbers) && numbers.every(isNumber)

const isNumber = (number: unknown): boolean => Number.isSafeInteger(number) && Number(number) > 0

interface Payload {
  readonly s: string
  readonly a?: 1
  readonly q?: readonly (readonly [tenant: string, queue: string, needs?: undefined])[]
  readonly d?: readonly (readonly [tenant: string, queue: string, needs: string])[]
  readonly l?: readonly (readonly [tenant: string, queue: string, needs?: string])[]
  readonly n?: readonly (readonly [string, string, readonly number[]])[]
}

/** JSON may say everything in ASCII, and then its length is its size. */
const ascii = (json: string): string =>
  json.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
