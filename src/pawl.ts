/** What a user holds in the hand: the engine interface in the words of product and code. Every refusal is thrown. */

import type { Asked, CancelOptions, ReopenOptions, RescheduleOptions, SignalOptions } from './asked.ts'
import { type Contract, contract } from './contract.ts'
import { assert } from './core/assert.ts'
import { bodyRef } from './core/body.ts'
import { type Duration, parseDuration } from './core/duration.ts'
import type { Event } from './core/event.ts'
import { type Explanation, explain } from './core/explain.ts'
import { isId } from './core/id.ts'
import { type Job, type JobId, RANK, STATES, TERMINAL_STATES, type TerminalState } from './core/job.ts'
import { toJson } from './core/json.ts'
import { reasonOf } from './core/reason.ts'
import type { Violation } from './core/refusal.ts'
import { refuse } from './core/refuse.ts'
import { edges, MACHINE } from './core/transitions.ts'
import { DEFAULT_TENANT, type InputOf, type JobSpec, type OutputOf } from './define-job.ts'
import { Endings } from './endings.ts'
import type { AuditLog } from './engine/audit.ts'
import type { Answer, Engine, Word } from './engine/engine.ts'
import { findSome } from './engine/find-some.ts'
import { logOf } from './engine/log-of.ts'
import { Queues } from './engine/queues.ts'
import { type Verification, type VerifyFilter, verify } from './engine/verify.ts'
import { delayFrom, type EnqueueOptions, priorityFrom, timeFrom } from './enqueue-options.ts'
import { ENDINGS, Invalid, Refused } from './errors.ts'
import { JobHandle } from './job-handle.ts'
import { Producer } from './producer.ts'
import type { EventPage, EventQuery, JobPage, JobQuery } from './store/store.ts'
import type { Ids } from './system/ids.ts'
import type { Log } from './system/log.ts'
import type { Timers } from './system/timers.ts'
import { within } from './system/within.ts'
import type { Telemetry } from './telemetry.ts'
import type { JobDefinition } from './worker/definition.ts'
import { type Surroundings, startWorker, type Worker, type WorkerOptions } from './worker/worker.ts'

type Accepted = Extract<Answer, { ok: true }>

/** An input may be left out where it may be undefined. */
type Handed<J, More extends readonly unknown[]> =
  undefined extends InputOf<J> ? [input?: InputOf<J>, ...more: More] : [input: InputOf<J>, ...more: More]

export interface Redriven {
  readonly matched: number
  readonly reopened: number
  readonly refused: readonly Refused[]
}

export interface PawlParts {
  readonly engine: Engine
  /** What is behind it, where bodies are encrypted on the way: everything as it is stored. */
  readonly stored?: Engine | undefined
  readonly timers: Timers
  readonly ids: Ids
  readonly log: Log
  /** What workers need to know of where they are. */
  readonly surroundings?: Surroundings | undefined
  readonly tenant?: string | undefined
  /** Who gives commands, unless a call says otherwise. */
  readonly actor?: string | undefined
  readonly telemetry?: Telemetry | undefined
  /** Where the store is at hand. Over HTTP the gateway keeps it. */
  readonly audit?: AuditLog | undefined
  /** Stopped before the engine is closed. */
  readonly services?: readonly AsyncDisposable[] | undefined
}

const PAGE = 500
/** For rounds under way to end. */
const REST_WITHIN_MS = 1_000
const REOPENABLE = ['failed', 'dead_lettered', 'timed_out', 'cancelled'] as const satisfies readonly TerminalState[]

export class Pawl implements AsyncDisposable {
  readonly engine: Engine
  readonly #parts: PawlParts
  readonly #tenant: string
  readonly #endings: Endings
  readonly #producer: Producer
  readonly #queues: Queues
  /** Workers that have not been stopped, and what they have yet to say. */
  readonly #workers = new Set<Worker>()
  readonly #announcing = new Set<Promise<void>>()
  /** Present once it has been closed, or begins to be. */
  #closing: Promise<void> | undefined

  constructor(parts: PawlParts) {
    this.#parts = parts
    this.engine = parts.engine
    this.#tenant = parts.tenant ?? DEFAULT_TENANT
    this.#endings = new Endings(parts.engine, parts.timers, parts.log)
    this.#producer = new Producer(parts.engine, this.#tenant)
    this.#queues = new Queues(parts.engine)
  }

  /** By definition, by spec, or by name with the definition's type: `enqueue<typeof crawlPage>('crawl.page', …)`. */
  async enqueue<J extends JobSpec>(
    job: J | J['type'],
    ...[input, options = {}]: Handed<J, [options?: EnqueueOptions]>
  ): Promise<JobHandle<OutputOf<J>>> {
    return new JobHandle(this, await this.#producer.enqueue(job, input, options))
  }

  /** Many of one type. All inputs are validated before the first is sent; then each is enqueued or refused by itself. */
  async enqueueMany<J extends JobSpec>(
    job: J | J['type'],
    inputs: readonly InputOf<J>[],
    options: EnqueueOptions | ((input: InputOf<J>, index: number) => EnqueueOptions) = {},
  ): Promise<readonly JobHandle<OutputOf<J>>[]> {
    const produced = await this.#producer.enqueueMany(job, inputs, options)
    return produced.map((each) => new JobHandle(this, each))
  }

  async get(id: JobId, tenant = this.#tenant): Promise<Job | undefined> {
    const [found] = (await this.engine.load([this.#named(id, tenant)])).items
    return found?.job
  }

  /** A handle on a job that somebody else enqueued. */
  handle<J extends JobSpec = JobSpec>(id: JobId): JobHandle<OutputOf<J>> {
    return new JobHandle(this, { id, deduped: false, replayed: false })
  }

  /** One of a job's bodies, as it was handed in: `input`, `output`, `checkpoint`, `step/<name>`, `error/<attempt>`. */
  async body(id: JobId, name: string): Promise<unknown> {
    const [found] = (await this.engine.load([{ ...this.#named(id), bodies: [name] }])).items
    const text = found?.bodies[name]
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** A page of at most `limit` jobs (500 unless given); where its `cursor` is absent there are no more. */
  find(query: Partial<JobQuery> = {}): Promise<JobPage> {
    return findSome(this.engine, { ...query, order: query.order ?? 'newest', limit: query.limit ?? PAGE })
  }

  /** A job's whole log; or a page of what happened to many: the feed after a position, by type and time, by correlation. */
  events(id: JobId): Promise<readonly Event[]>
  events(query: EventQuery | { readonly after: string; readonly limit?: number | undefined }): Promise<EventPage>
  async events(
    asked: JobId | EventQuery | { readonly after: string; readonly limit?: number | undefined },
  ): Promise<readonly Event[] | EventPage> {
    if (typeof asked === 'string') return logOf(this.engine, await this.#resolved(asked))
    if ('by' in asked) return this.engine.events(asked)
    return this.engine.events({ by: 'feed', after: asked.after, limit: asked.limit ?? PAGE })
  }

  /** Waits for the end. Throws JobFailed, JobDeadLettered, JobCancelled, JobDenied or JobTimedOut. */
  async result<O = unknown>(id: JobId, options: { readonly timeout?: Duration | undefined } = {}): Promise<O> {
    const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout)
    if (options.timeout !== undefined && timeoutMs === undefined) {
      throw new Invalid('result', [{ field: 'timeout', rule: "must be milliseconds or a duration like '30s'" }])
    }
    const job = await this.#endings.of(this.#named(id), timeoutMs)
    const Bad = ENDINGS[job.state as TerminalState]
    if (Bad !== undefined) throw new Bad(job)
    if (job.result?.ptr !== undefined) return { resultPtr: job.result.ptr } as O
    return (job.result?.body.size === 0 ? undefined : await this.body(job.id, 'output')) as O
  }

  cancel(id: JobId, { mode = 'soft', reason, ...asked }: CancelOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'cancel', mode, reason } }))
  }

  signal(id: JobId, name: string, payload?: unknown, { key, ...asked }: SignalOptions = {}): Promise<Accepted> {
    const json = toJson(payload, 'payload')
    if (!json.ok) throw new Invalid(`signal ${name}`, json.violations)
    const { text } = json
    const body = text === undefined ? undefined : bodyRef('signal', text)
    const bodies = text === undefined ? [] : [{ name: 'signal', text }]
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'signal', name, key, body }, bodies }))
  }

  /** Run now (nothing given), later, or at another priority. */
  reschedule(id: JobId, { delay, runAt, priority, ...asked }: RescheduleOptions = {}): Promise<Accepted> {
    const found: Violation[] = []
    const delayMs = delayFrom(delay, found)
    const urgency = priority === undefined ? undefined : priorityFrom(priority, found)
    if (found.length > 0) throw new Invalid('reschedule', found)
    const now = this.engine.now()
    const at = timeFrom(runAt) ?? (delayMs === undefined ? undefined : now + delayMs)
    const when = at ?? (urgency === undefined ? now : undefined)
    return this.#say(id, asked, (stamp) => ({
      command: { ...stamp, type: 'reschedule', runAt: when, priority: urgency },
    }))
  }

  /** An operator's second chance: budgets and deadline fresh, the log goes on. */
  reopen(id: JobId, { reason, runAt, ...asked }: ReopenOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'reopen', reason, runAt: timeFrom(runAt) } }))
  }

  /** Reopens whatever matches; dead letters and failures unless the filter says otherwise. */
  async redrive(filter: VerifyFilter = {}, options: Asked & { readonly dryRun?: boolean } = {}): Promise<Redriven> {
    const states = (filter.states ?? ['failed', 'dead_lettered']).filter((state) => includes(REOPENABLE, state))
    const requestId = options.requestId ?? this.#parts.ids.requestId()
    const actor = options.actor ?? this.#actor
    const refused: Refused[] = []
    let matched = 0
    let cursor: string | undefined
    if (options.dryRun !== true)
      await this.#parts.audit?.append(filter.tenant ?? this.#tenant, {
        act: 'jobs.reopened',
        by: actor,
        about: JSON.stringify({ ...filter, states }),
      })
    do {
      const page = await this.engine.find({ ...filter, states, order: 'oldest', limit: PAGE, cursor })
      matched += page.jobs.length
      cursor = page.cursor
      if (options.dryRun === true || page.jobs.length === 0) continue
      const words = page.jobs.map(({ id }): Word => ({ id, command: { type: 'reopen', actor, requestId } }))
      for (const answer of await this.engine.settle(words)) if (!answer.ok) refused.push(new Refused(answer.refusal))
    } while (cursor !== undefined)
    return { matched, reopened: options.dryRun === true ? 0 : matched - refused.length, refused }
  }

  async pause(queue: string, { actor = this.#actor, tenant = this.#tenant }: Asked = {}): Promise<void> {
    await this.#parts.audit?.append(tenant, { act: 'queue.paused', by: actor, about: queue })
    await this.#queues.pause(tenant, queue, actor)
  }

  async resume(queue: string, { actor = this.#actor, tenant = this.#tenant }: Asked = {}): Promise<void> {
    await this.#parts.audit?.append(tenant, { act: 'queue.resumed', by: actor, about: queue })
    await this.#queues.resume(tenant, queue)
  }

  /** For callers who know when they committed: workers look at the queue now instead of when they next poll. */
  wake(queue: string, { tenant }: Asked = {}): Promise<void> {
    return this.#queues.wake(tenant ?? this.#tenant, queue)
  }

  /** Why is this job not running? */
  async explain(id: JobId): Promise<Explanation> {
    const job = await this.get(id)
    if (job === undefined) throw new Refused(refuse('NOT_FOUND', { jobId: id, message: `There is no job ${id}.` }))
    const { tenant, queue } = job.spec.kind
    const paused = await this.#queues.paused(tenant, queue)
    return explain(job, { now: this.engine.now(), paused, held: undefined })
  }

  /** Folds every log against its record, keys and counters; names every difference. */
  verify(filter?: VerifyFilter): Promise<Verification> {
    return verify(this.#parts.stored ?? this.engine, filter)
  }

  /** The table the engine enforces. */
  get machine() {
    return {
      version: 1,
      states: STATES,
      terminal: TERMINAL_STATES,
      rank: RANK,
      moves: MACHINE,
      edges: edges(),
    } as const
  }

  /** The contract of document 001, operation by operation, for those who build their own workers. */
  get contract(): Contract {
    return contract(this.engine, this.#tenant)
  }

  /** Runs the handlers of these types in this process, until the worker is stopped. */
  work(jobs: readonly JobDefinition[], options: WorkerOptions = {}): Worker {
    const { timers, ids, log, surroundings, telemetry } = this.#parts
    const around = telemetry && ((job: JobDefinition) => telemetry.definition(job))
    const worker = startWorker(this.engine, jobs, { ...surroundings, around, timers, ids, log, ...options })
    this.#workers.add(worker)
    // Producers that know only the name of a type find its queue and its policy.
    const announced = this.#producer.types
      .announce(jobs)
      .catch((error: unknown) => log.warn('job types could not be announced', { reason: reasonOf(error) }))
      .finally(() => this.#announcing.delete(announced))
    this.#announcing.add(announced)
    return worker
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * Workers drain first, then everything else ends: within five seconds after that, whatever is down. Closing twice is
   * closing once.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { timers, services = [] } = this.#parts
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
    this.#workers.clear()
    const rested = Promise.all([
      ...this.#announcing,
      this.#endings[Symbol.asyncDispose](),
      ...services.map((each) => each[Symbol.asyncDispose]()),
    ])
    // Who waits for a store that does not answer is told so when that is closed.
    await within(timers, REST_WITHIN_MS, rested)
    await this.engine[Symbol.asyncDispose]()
    await rested
  }

  get #actor(): string {
    return this.#parts.actor ?? 'operator'
  }

  async #say(id: JobId, asked: Asked, words: (stamp: Stamp) => Omit<Word, 'id' | 'tenant'>): Promise<Accepted> {
    const actor = asked.actor ?? this.#actor
    const requestId = asked.requestId ?? this.#parts.ids.requestId()
    const stamp: Stamp = { actor, requestId, expectedRev: asked.expectedRev }
    const [answer] = await this.engine.settle([{ ...words(stamp), ...this.#named(id, asked.tenant) }])
    assert(answer !== undefined, 'every word is answered')
    if (!answer.ok) throw new Refused(answer.refusal)
    return answer
  }

  /** A producer's own id is unique among its tenant's. */
  #named(id: JobId, tenant = this.#tenant): { readonly id: JobId; readonly tenant: string | undefined } {
    return { id, tenant: isId(id) ? undefined : tenant }
  }

  async #resolved(id: JobId): Promise<JobId> {
    if (isId(id)) return id
    return (await this.get(id))?.id ?? id
  }
}

interface Stamp {
  readonly actor: string
  readonly requestId: string
  readonly expectedRev: number | undefined
}

const includes = <T extends string>(all: readonly T[], one: string): one is T =>
  (all as readonly string[]).includes(one)
