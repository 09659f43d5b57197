/** What a user holds in the hand: the engine interface in the words of product and code. Every refusal is thrown. */

import { assert } from '../core/assert.ts'
import { bodyRef } from '../core/body.ts'
import type { Event } from '../core/event.ts'
import type { Explanation } from '../core/explain.ts'
import { isId } from '../core/id.ts'
import { DEFAULT_TENANT, type Job, type JobId } from '../core/job.ts'
import { toJson } from '../core/json.ts'
import type { Jsonify } from '../core/jsonify.ts'
import { reasonOf } from '../core/reason.ts'
import type { Verification } from '../engine/discrepancy.ts'
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { findSome } from '../engine/find-some.ts'
import { Queues } from '../engine/queues.ts'
import { type VerifyFilter, verify } from '../engine/verify.ts'
import type { EventPage, EventQuery, JobPage, JobQuery } from '../store/store.ts'
import { realClock } from '../system/clock.ts'
import { within } from '../system/within.ts'
import type { JobDefinition } from '../worker/definition.ts'
import { type Replayed, replay } from '../worker/replay.ts'
import { demandKnown, startWorker, type Worker, type WorkerOptions } from '../worker/worker.ts'
import { announcementOf } from './announcement.ts'
import { approving } from './approving.ts'
import {
  type AdmitOptions,
  type ApproveOptions,
  type Asked,
  type CancelOptions,
  type DenyOptions,
  type ReadOptions,
  type RedriveOptions,
  type ReopenOptions,
  type RescheduleOptions,
  type SignalOptions,
  type Stamp,
  verdict,
} from './asked.ts'
import { bounded, type CallOptions, together } from './call.ts'
import { type Contract, contract } from './contract.ts'
import type { InputOf, JobSpec, OutputOf } from './define-job.ts'
import { Endings } from './endings.ts'
import {
  type Done,
  type EnqueueManyOptions,
  type EnqueueOutcome,
  handlesOf,
  type ItemOptions,
  Many,
  outcomesOf,
} from './enqueue-many.ts'
import { type EnqueueOptions, timeFrom } from './enqueue-options.ts'
import { Invalid, Refused, WaitTimedOut } from './errors.ts'
import { JobHandle } from './job-handle.ts'
import { LimitDesk } from './limits.ts'
import { machine } from './machine.ts'
import { OperationDesk } from './operations-desk.ts'
import type { Around, PawlParts } from './pawl-parts.ts'
import { PolicyDesk } from './policies.ts'
import { Producer } from './producer.ts'
import { bodyIn, eventsFor, explained, history, mustFind, resultOf, withBodies } from './reads.ts'
import { type Redriven, redrive } from './redrive.ts'
import { rescheduling } from './rescheduling.ts'
import { ScheduleDesk, type ScheduleOptions } from './schedules.ts'
import { spawning } from './spawn.ts'

type Accepted = Extract<Answer, { ok: true }>

/** An input may be left out where it may be undefined. */
type Handed<J, More extends readonly unknown[]> =
  undefined extends InputOf<J> ? [input?: InputOf<J>, ...more: More] : [input: InputOf<J>, ...more: More]

type HandleOf<J> = JobHandle<Jsonify<OutputOf<J>>, Jsonify<InputOf<J>>>

/** For all of them, or a function of each. */
type ManyOptions<J> = EnqueueManyOptions<InputOf<J>> | ((input: InputOf<J>, index: number) => ItemOptions)

const PAGE = 500
const NO_OPTIONS = {}
/** For rounds under way to end. */
const REST_WITHIN_MS = 1_000

export class Pawl implements AsyncDisposable {
  readonly engine: Engine
  /** @internal What its server promises, whether somebody looks at what has come due, and what a Redis with a ledger can be asked. */
  readonly below: Pick<PawlParts, 'durability' | 'upkeep' | 'ledger'>
  /** What runs by the clock: looked at, paused, run now, made by hand, compared with what code has. */
  readonly schedules: ScheduleDesk
  /** What jobs share that is limited: looked at, set by hand, reset. */
  readonly limits: LimitDesk
  /** Who is admitted, as tenants have set it: looked at, set, removed. */
  readonly policies: PolicyDesk
  /** The table the engine enforces. */
  readonly machine = machine
  /** What is done to many jobs at once: redriven, cancelled, purged. */
  readonly operations: OperationDesk
  readonly #parts: PawlParts
  readonly #tenant: string
  readonly #endings: Endings
  readonly #producer: Producer
  /** Workers that have not been stopped, and what they have yet to say. */
  readonly #workers = new Set<Worker>()
  readonly #announcing = new Set<Promise<void>>()
  /** Others that stand on the same engine. */
  readonly #companions = new Set<AsyncDisposable>()
  /** Present once it has been closed, or begins to be. */
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(parts: PawlParts) {
    this.#parts = parts
    this.engine = parts.engine
    this.below = parts
    this.#tenant = parts.tenant ?? DEFAULT_TENANT
    this.#endings = new Endings(parts.engine, parts.timers, parts.log)
    this.#producer = new Producer(parts.engine, { tenant: this.#tenant, actor: parts.actor })
    this.schedules = new ScheduleDesk(parts, this.#producer.types)
    this.limits = new LimitDesk(parts)
    this.policies = new PolicyDesk(parts)
    this.operations = new OperationDesk(parts, (job, signal) => this.#endings.of(job, signal))
  }

  /** By definition, by spec, or by name with the definition's type: `enqueue<typeof crawlPage>('crawl.page', …)`. */
  async enqueue<J extends JobSpec>(
    job: J | J['type'],
    ...handed: Handed<J, [options?: EnqueueOptions]>
  ): Promise<HandleOf<J>> {
    // By their places: taken apart as a list they cost an iterator a call.
    const input = handed[0]
    const options = handed[1] ?? NO_OPTIONS
    const what = `enqueue of ${typeof job === 'string' ? job : job.type}`
    const made = await this.#call(what, options, (engine) => this.#producer.enqueue(engine, job, input, options))
    return new JobHandle(this, made)
  }

  /**
   * Many of one type. All inputs are validated before the first is sent: where one is refused, nothing is enqueued, and
   * `Invalid` names each by its index. What only the store can refuse is refused by itself, or with `atomic` all of them
   * with it: `SomeRefused` says which and why, and has the handles of the others.
   */
  async enqueueMany<J extends JobSpec>(
    job: J | J['type'],
    inputs: readonly InputOf<J>[],
    options: ManyOptions<J> = {},
  ): Promise<readonly HandleOf<J>[]> {
    const done = await this.#many(job, inputs, options, true)
    return handlesOf(done, (produced): HandleOf<J> => new JobHandle(this, produced))
  }

  /** The same, without throwing: what became of each of them, in order. Those that are refused keep no others out, unless `atomic`. */
  async enqueueEach<J extends JobSpec>(
    job: J | J['type'],
    inputs: readonly InputOf<J>[],
    options: ManyOptions<J> = {},
  ): Promise<readonly EnqueueOutcome<HandleOf<J>>[]> {
    const done = await this.#many(job, inputs, options, false)
    return outcomesOf(done, (produced): HandleOf<J> => new JobHandle(this, produced))
  }

  async get(id: JobId, options: ReadOptions = {}): Promise<Job | undefined> {
    const [found] = (await this.#call(`get ${id}`, options, (engine) => engine.load([this.#named(id, options.tenant)])))
      .items
    return found?.job
  }

  /** A handle on a job that somebody else enqueued. */
  handle<J extends JobSpec = JobSpec>(id: JobId): HandleOf<J> {
    return new JobHandle(this, { id, deduped: false, replayed: false })
  }

  /** One of a job's bodies, as it was handed in: `input`, `output`, `checkpoint`, `step/<name>`, `error/<attempt>`. Throws `Refused` where all were removed. */
  async body(id: JobId, name: string, options: ReadOptions = {}): Promise<unknown> {
    const item = { ...this.#named(id, options.tenant), bodies: [name] }
    return bodyIn((await this.#call(`body ${name} of ${id}`, options, (engine) => engine.load([item]))).items[0], name)
  }

  /** A page of at most `limit` jobs (500 unless given); where its `cursor` is absent there are no more. */
  find(query: Partial<JobQuery> = {}, options: CallOptions = {}): Promise<JobPage> {
    const { tenant = this.#parts.tenant, order = 'newest', limit = PAGE } = query
    return this.#call('find', options, (engine) => findSome(engine, { ...query, tenant, order, limit }))
  }

  /** A job's whole log; or a page of what happened to many: the feed after a position, by type and time, by correlation. */
  events(id: JobId, options?: ReadOptions): Promise<readonly Event[]>
  events(
    query: EventQuery | { readonly after: string; readonly limit?: number | undefined },
    options?: CallOptions,
  ): Promise<EventPage>
  async events(
    asked: JobId | EventQuery | { readonly after: string; readonly limit?: number | undefined },
    options: ReadOptions = {},
  ): Promise<readonly Event[] | EventPage> {
    if (typeof asked === 'string') {
      const item = this.#named(asked, options.tenant)
      return this.#call(`events of ${asked}`, options, (engine) => history(engine, item))
    }
    const query = 'by' in asked ? asked : ({ by: 'feed', after: asked.after, limit: asked.limit ?? PAGE } as const)
    return this.#call('events', options, (engine) => eventsFor(engine, this.#parts.tenant, query))
  }

  /**
   * Waits for the end. Throws JobFailed, JobDeadLettered, JobCancelled, JobDenied or JobTimedOut; WaitTimedOut where it has not
   * ended in time.
   */
  result<O = unknown>(id: JobId, options: ReadOptions = {}): Promise<O> {
    const late = (waitedMs: number) => new WaitTimedOut(id, waitedMs)
    const item = this.#named(id, options.tenant)
    const waited = async (engine: Engine, signal: AbortSignal | undefined) =>
      (await resultOf(engine, await this.#endings.of(await mustFind(engine, item), signal))) as O
    return this.#call(`result of ${id}`, options, waited, late)
  }

  /** Lets a job in that is `pending`, where its type has `admission`: from now on workers may claim it. */
  admit(id: JobId, { rule, policyHash, ...asked }: AdmitOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'admit', ...verdict(rule, policyHash) } }))
  }

  /** Turns away a job that is `pending`, or that nobody has ever claimed: it ends `denied`. */
  deny(id: JobId, { rule, policyHash, reason, ...asked }: DenyOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({
      command: { ...stamp, type: 'deny', ...verdict(rule, policyHash), reason },
    }))
  }

  /**
   * Approves a job that a policy asks about (`approval` of its record), which lets it in then; without hashes, as it is by now, replaced or not.
   */
  approve(id: JobId, { reason, policyHash, jobHash, ...asked }: ApproveOptions = {}): Promise<Accepted> {
    return together(this.#parts, `approve of ${id}`, asked, async (within) => {
      const about = await approving({ policyHash, jobHash }, () => this.get(id, within))
      return this.#say(id, within, (stamp) => ({ command: { ...stamp, type: 'approve', ...about, reason } }))
    })
  }

  cancel(id: JobId, { mode = 'soft', reason, next, ...asked }: CancelOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'cancel', mode, reason, next } }))
  }

  async signal(id: JobId, name: string, payload?: unknown, { key, ...asked }: SignalOptions = {}): Promise<Accepted> {
    const json = toJson(payload, 'payload')
    if (!json.ok) throw new Invalid(`signal ${name}`, json.violations)
    const { text } = json
    const body = text === undefined ? undefined : bodyRef('signal', text)
    const bodies = text === undefined ? [] : [{ name: 'signal', text }]
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'signal', name, key, body }, bodies }))
  }

  /** Run now (nothing given), later, or at another priority. */
  async reschedule(id: JobId, { delay, runAt, priority, ...asked }: RescheduleOptions = {}): Promise<Accepted> {
    const when = rescheduling({ delay, runAt, priority }, this.engine.now())
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'reschedule', ...when } }))
  }

  /** An operator's second chance: budgets and deadline fresh, the log goes on. */
  reopen(id: JobId, { reason, runAt, ...asked }: ReopenOptions = {}): Promise<Accepted> {
    return this.#say(id, asked, (stamp) => ({ command: { ...stamp, type: 'reopen', reason, runAt: timeFrom(runAt) } }))
  }

  /** Reopens what matches, dead letters unless `states` says otherwise; enqueues anew where a document's endings are final. */
  redrive(filter: VerifyFilter = {}, options: RedriveOptions = {}): Promise<Redriven> {
    const { dryRun = false, actor = this.#actor, requestId = this.#parts.ids.requestId() } = options
    const tenant = filter.tenant ?? options.tenant ?? this.#parts.tenant
    const asked = { filter: { ...filter, tenant }, dryRun, actor, requestId }
    const written = async (about: string) =>
      await this.#parts.audit?.append(tenant ?? this.#tenant, { act: 'jobs.reopened', by: actor, about })
    return this.#call('redrive', options, (engine) => redrive(engine, asked, written))
  }

  pause(queue: string, { actor = this.#actor, tenant = this.#tenant, ...bounds }: Asked = {}): Promise<void> {
    return this.#call(`pause ${queue}`, bounds, async (engine) => {
      await this.#parts.audit?.append(tenant, { act: 'queue.paused', by: actor, about: queue })
      await new Queues(engine).pause(tenant, queue, actor)
    })
  }

  resume(queue: string, { actor = this.#actor, tenant = this.#tenant, ...bounds }: Asked = {}): Promise<void> {
    return this.#call(`resume ${queue}`, bounds, async (engine) => {
      await this.#parts.audit?.append(tenant, { act: 'queue.resumed', by: actor, about: queue })
      await new Queues(engine).resume(tenant, queue)
    })
  }

  /** For callers who know when they committed: workers look at the queue now instead of when they next poll. */
  wake(queue: string, { tenant = this.#tenant, ...bounds }: Asked = {}): Promise<void> {
    return this.#call(`wake ${queue}`, bounds, (engine) => new Queues(engine).wake(tenant, queue))
  }

  /** A job at each time of a pattern, one however many processes run. Say it at each start: it is kept as it is in code. */
  schedule<J extends JobSpec>(name: string, options: ScheduleOptions, job: J, ...[input]: Handed<J, []>) {
    return this.schedules.define(name, options, job, input, 'code')
  }

  /** Why is this job not running? */
  explain(id: JobId, options: ReadOptions = {}): Promise<Explanation> {
    return this.#call(`explain ${id}`, options, (engine) => explained(engine, this.#named(id, options.tenant)))
  }

  /** Folds every log against its record, checks texts, keys and counters; names every difference. */
  verify(filter: VerifyFilter = {}, options: CallOptions = {}): Promise<Verification> {
    const { tenant, stored = this.engine, timers } = this.#parts
    const narrowed = tenant === undefined ? filter : { tenant, ...filter }
    // As it is stored: what is encrypted is compared as it is.
    return bounded({ engine: stored, timers }, 'verify', options, (engine) => verify(engine, narrowed))
  }

  /**
   * Runs a job's handler once more against what the job has kept, without effects, and tells the first difference: a step,
   * wait or note that the log does not have, one that the handler never comes to, or another end.
   */
  replay(id: JobId, definition: JobDefinition, options: ReadOptions = {}): Promise<Replayed> {
    const { log } = this.#parts
    return this.#call(`replay of ${id}`, options, async (engine) =>
      replay({ engine, clock: realClock, log }, definition, await withBodies(engine, this.#named(id, options.tenant))),
    )
  }

  /** Whose jobs it enqueues, unless a job type says otherwise. */
  get tenant(): string {
    return this.#tenant
  }

  /** The contract of document 001, operation by operation, for those who build their own workers. */
  get contract(): Contract {
    return contract((what, bounds, work) => this.#call(what, bounds, work), this.#tenant)
  }

  /** Runs the handlers of these types in this process, until the worker is stopped. */
  work(jobs: readonly JobDefinition[], options: WorkerOptions = {}): Worker {
    if (jobs.length === 0) throw new TypeError('work: no job types are given, so there is nothing to run')
    demandKnown(options)
    const { timers, ids, log, surroundings, telemetry } = this.#parts
    const around = telemetry && ((job: JobDefinition) => telemetry.definition(job))
    const spawn = spawning(this.#producer, this.engine, telemetry !== undefined)
    const own = { ...surroundings, around, tenant: this.#tenant, timers, ids, log, spawn }
    const worker = startWorker(this.engine, jobs, { ...own, ...options })
    this.#workers.add(worker)
    for (const { tenant = this.#tenant } of jobs) this.operations.serve(tenant)
    // Producers that know only the name of a type find its queue and its policy.
    const announced = this.#producer.types
      .announce(jobs.map((job) => announcementOf(job, this.#tenant)))
      .catch((error: unknown) => log.warn('job types could not be announced', { reason: reasonOf(error) }))
      .finally(() => this.#announcing.delete(announced))
    this.#announcing.add(announced)
    return worker
  }

  /**
   * What stands on the same engine, as it is stored, and is closed before that is.
   * @internal
   */
  accompanied<T extends AsyncDisposable>(make: (around: Around) => T): T {
    const { stored = this.engine, timers, log, isRemote = false } = this.#parts
    if (isRemote) throw new TypeError('pawl: what is opened over HTTP has a gateway; mount one where the store is')
    const companion = make({ engine: stored, timers, log })
    this.operations.serve(undefined)
    this.#companions.add(companion)
    return companion
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
    await Promise.all([...[...this.#workers].map((worker) => worker.stop()), this.operations.close()])
    this.#workers.clear()
    const rested = Promise.all([
      ...this.#announcing,
      this.#endings[Symbol.asyncDispose](),
      ...[...services, ...this.#companions].map((each) => each[Symbol.asyncDispose]()),
    ])
    // Who waits for a store that does not answer is told so when that is closed.
    await within(timers, REST_WITHIN_MS, rested)
    await this.engine[Symbol.asyncDispose]()
    await rested
  }

  get #actor(): string {
    return this.#parts.actor ?? 'operator'
  }

  /** Every call goes through here, and only here is it bounded. */
  #call<T>(
    what: string,
    bounds: CallOptions,
    work: (engine: Engine, signal: AbortSignal | undefined) => Promise<T>,
    late?: (waitedMs: number) => Error,
  ): Promise<T> {
    return bounded(this.#parts, what, bounds, work, late)
  }

  #many<J extends JobSpec>(
    job: J | J['type'],
    inputs: readonly InputOf<J>[],
    asked: ManyOptions<J>,
    strict: boolean,
  ): Promise<readonly Done[]> {
    const options: EnqueueManyOptions<InputOf<J>> = typeof asked === 'function' ? { each: asked } : asked
    const what = `enqueueMany of ${typeof job === 'string' ? job : job.type}`
    return this.#call(what, options, async (engine) =>
      new Many(this.#producer, engine, job, inputs, options).send(strict),
    )
  }

  #say(id: JobId, asked: Asked, said: (stamp: Stamp) => Omit<Word, 'id' | 'tenant'>): Promise<Accepted> {
    const { actor = this.#actor, requestId = this.#parts.ids.requestId(), expectedRev, tenant, ...bounds } = asked
    const word = { ...said({ actor, requestId, expectedRev }), ...this.#named(id, tenant) }
    return this.#call(`${word.command.type} of ${id}`, bounds, async (engine) => {
      const [answer] = await engine.settle([word])
      assert(answer !== undefined, 'every word is answered')
      if (!answer.ok) throw new Refused(answer.refusal)
      return answer
    })
  }

  /** A producer's own id is unique among its tenant's; ours are unique, and anybody's where no tenant is named. */
  #named(id: JobId, tenant = this.#parts.tenant): { readonly id: JobId; readonly tenant: string | undefined } {
    return { id, tenant: tenant ?? (isId(id) ? undefined : DEFAULT_TENANT) }
  }
}
