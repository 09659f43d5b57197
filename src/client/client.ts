/** The engine interface over HTTP: workers, the facade and the command line run against it unchanged. */

import type { Annotation } from '../core/event.ts'
import type { Holding } from '../core/flow/explain.ts'
import type { CancelRequest, Job, JobId, State, Time } from '../core/job.ts'
import { AT_ONCE, LENGTHS } from '../core/limits.ts'
import { isSegment } from '../core/name.ts'
import type { Effect } from '../core/newer.ts'
import type { Policy } from '../core/policy.ts'
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
} from '../engine/engine.ts'
import { listener } from '../engine/listener.ts'
import { eventFromWire, fromWire, jobFromWire, type Wire } from '../gateway/contract/wire.ts'
import type {
  EventPage,
  EventQuery,
  FeedItem,
  Hint,
  JobPage,
  JobQuery,
  LoadAnswer,
  Loaded,
  LoadItem,
  SettingAnswer,
  SettingOperation,
  Tally,
  Transaction,
} from '../store/store.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { type Random, realRandom } from '../system/random.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { FULL, Http, type Manner } from './http.ts'
import { jobsIn, pathToJobs } from './jobs-query.ts'
import { remoteHoldings, remoteLimits, sayToRemoteLimit } from './limits.ts'
import { isOperation, operationText } from './operation-words.ts'
import { pathTo, queryText } from './path.ts'
import { checked, refusalOf } from './refused.ts'
import { remoteSettings } from './settings.ts'
import { subscribeTo } from './subscription.ts'
import { enqueueText, wordText } from './words.ts'

export interface ClientOptions {
  readonly url: string
  readonly token?: string | undefined
  readonly timers?: Timers | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly log?: Log | undefined
}

const BATCH = 500
/** What a gateway lets a claim wait; whoever would wait longer asks again. */
const WAIT_MS_MAX = 60_000

export class HttpEngine implements Engine {
  readonly #options: ClientOptions
  readonly #http: Http
  readonly #random: Random
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #log: Log
  readonly #subscriptions = new Set<AsyncDisposable>()

  constructor(options: ClientOptions, http?: Http) {
    const { url, token, fetch, timers = realTimers, clock = realClock, random = realRandom } = options
    this.#options = options
    this.#log = harmless(options.log ?? silentLog)
    this.#random = random
    this.#timers = timers
    this.#clock = clock
    this.#http = http ?? new Http({ url, token, timers, clock, fetch })
  }

  async enqueue(
    requests: readonly EnqueueRequest[],
    tx?: Transaction,
    together = false,
  ): Promise<readonly EnqueueAnswer[]> {
    if (tx !== undefined) throw new Error('pawl: a transaction cannot travel over HTTP; open the database itself.')
    const [first] = requests
    if (first !== undefined && isOperation(first)) return Promise.all(requests.map((each) => this.#operate(each)))
    if (together) return requests.length === 0 ? [] : this.#enqueueBatch(requests, true)
    const answers: EnqueueAnswer[] = []
    for (let from = 0; from < requests.length; from += BATCH)
      answers.push(...(await this.#enqueueBatch(requests.slice(from, from + BATCH), false)))
    return answers
  }

  /** Where it is called off, its answer may have been on its way: what was given is asked for once more. */
  async claim(request: ClaimRequest): Promise<readonly Assignment[]> {
    const { signal } = request
    if (signal === undefined) return this.#claimed(request, this.#http)
    try {
      return await this.#claimed(request, this.#http.until(signal))
    } catch (error) {
      if (!signal.aborted) throw error
      return this.#claimed({ ...request, lanes: [], waitMs: 0 }, this.#http)
    }
  }

  async settle(words: readonly Word[]): Promise<readonly Answer[]> {
    return (await this.#say(words)).map((wire) =>
      wire['ok'] === true ? answerOf(wire) : { ok: false, refusal: refusalOf(wire['problem'] as Wire) },
    )
  }

  async heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]> {
    const words = beats.map(
      ({ id, fence, requestId }): Word => ({ id, command: { type: 'heartbeat', actor: '', fence, requestId } }),
    )
    const shortestMs = Math.min(...beats.map(({ windowMs = Number.POSITIVE_INFINITY }) => windowMs))
    // Sent half way through a lease: what was swallowed is said once more before it is over.
    return (await this.#say(words, { usefulMs: shortestMs / 2 })).map((wire) => {
      if (wire['ok'] !== true) return { ok: false, refusal: refusalOf(wire['problem'] as Wire) }
      const { rev, leaseExpiresAt } = wire
      return { ok: true, rev: Number(rev), leaseExpiresAt: Date.parse(String(leaseExpiresAt)), cancel: cancelOf(wire) }
    })
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const found = await Promise.all(items.map((item) => this.#loadOne(item)))
    return { now: this.now(), items: found }
  }

  async find(query: JobQuery): Promise<JobPage> {
    const body = await this.#ok('GET', pathToJobs(query))
    return { now: this.now(), jobs: jobsIn(body), cursor: body['cursor'] as string | undefined }
  }

  async events(query: EventQuery): Promise<EventPage> {
    const nothing = { events: [], annotations: [], feed: [], tally: [], backlog: [] }
    const page = { now: this.now(), ...nothing, purged: 0, cursor: undefined }
    switch (query.by) {
      case 'job': {
        const body = await this.#ok(
          'GET',
          `${pathTo('jobs', query.id, 'events')}?afterRev=${query.afterRev}&limit=${query.limit}`,
        )
        const { next } = body
        const events = (body['events'] as readonly Wire[]).map(eventFromWire)
        return { ...page, events, cursor: next === undefined ? undefined : String(next) }
      }
      case 'type':
      case 'correlation': {
        const parameters =
          query.by === 'type'
            ? {
                type: query.types.join(','),
                from: new Date(query.from).toISOString(),
                to: new Date(query.to).toISOString(),
                limit: query.limit,
                cursor: query.cursor,
              }
            : { correlationId: query.correlationId, limit: query.limit, cursor: query.cursor }
        const body = await this.#ok('GET', `/v1/events?${queryText(parameters)}`)
        return {
          ...page,
          events: (body['events'] as readonly Wire[]).map(eventFromWire),
          cursor: body['cursor'] as string | undefined,
        }
      }
      case 'feed': {
        const body = await this.#ok(
          'GET',
          `/v1/events?${queryText({ after: query.after ?? 'end', limit: query.limit })}`,
        )
        return { ...page, feed: body['feed'] as readonly FeedItem[], cursor: body['cursor'] as string | undefined }
      }
      case 'tally':
        return { ...page, tally: await this.#tally(query.queue) }
      case 'annotation': {
        const body = await this.#ok('GET', pathTo('jobs', query.id, 'late'))
        return { ...page, annotations: fromWire(body['late']) as readonly Annotation[] }
      }
      case 'backlog':
      case 'keys':
        return page
    }
  }

  whatHolds(jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Holding>> {
    return remoteHoldings(this.#http, jobs)
  }

  limits(query: LimitQuery): Promise<LimitPage> {
    return remoteLimits(this.#http, query)
  }

  sayToLimits(words: readonly KeyWord[]): Promise<readonly (LimitStatus | undefined)[]> {
    return Promise.all(words.map((word) => sayToRemoteLimit(this.#http, word)))
  }

  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    return remoteSettings(this.#http, operations, this.now())
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    const subscription = subscribeTo(this.#http, this.#timers, listener(wake, this.#log))
    this.#subscriptions.add(subscription)
    return subscription
  }

  /** Its requests end with the signal, tries to come included. */
  until(signal: AbortSignal): Engine {
    return new HttpEngine(this.#options, this.#http.until(signal))
  }

  now(): Time {
    return Math.floor(this.#http.offsetMs + this.#clock.monotonicMs())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close()
    await Promise.all([...this.#subscriptions].map((each) => each[Symbol.asyncDispose]()))
  }

  async #claimed(request: ClaimRequest, http: Http): Promise<readonly Assignment[]> {
    const { requestId, workerId, lanes, serves, pool, capabilities, limit, limited, waitMs = 0 } = request
    const queues = [...new Set(lanes.map(({ queue }) => queue))]
    const wanted = lanes.map(({ queue, priority }) => ({ queue, priority }))
    const how = { limit, limited, waitMs: Math.min(waitMs, WAIT_MS_MAX), compact: true }
    const able = { serves, pool, capabilities }
    const asked = JSON.stringify({ requestId, workerId, queues, lanes: wanted, ...able, ...how })
    const full = waitMs > 0 ? 'tell' : 'ask again'
    const { status, body } = await http.request('POST', '/v1/claims', asked, {
      full,
      waitMs: how.waitMs,
    })
    // A token has so many places to wait, and they are taken: what is there can be had all the same.
    if (status === FULL) return this.#claimed({ ...request, waitMs: 0 }, http)
    const { jobs, policies } = checked(status, body) as {
      readonly jobs: readonly Wire[]
      readonly policies: readonly Policy[]
    }
    return jobs.map((wire) => assignmentOf(wire, policies))
  }

  async #enqueueBatch(requests: readonly EnqueueRequest[], atomic: boolean): Promise<readonly EnqueueAnswer[]> {
    if (requests.length > AT_ONCE.jobs) {
      throw new RangeError(`pawl: a gateway takes at most ${AT_ONCE.jobs} jobs together, not ${requests.length}.`)
    }
    const texts = requests.map((request) => enqueueText(request, request.requestId ?? this.#random.uuid()))
    const asked = `{"atomic":${atomic},"jobs":[${texts.join(',')}]}`
    const { status, body } = await this.#http.request('POST', '/v1/jobs:batch', asked)
    const wire = body as Wire
    // Those that were refused together are told one by one, as those that were accepted are.
    const jobs = (status === 409 ? wire : checked(status, wire))['jobs'] as readonly Wire[]
    return requests.map((request, i) => enqueued(jobs[i] as Wire, request.kind.policy))
  }

  /** Operations have a route of their own: nobody enqueues into their queue. */
  async #operate(request: EnqueueRequest): Promise<EnqueueAnswer> {
    const { status, body } = await this.#http.request('POST', '/v1/operations', operationText(request))
    if (status >= 400) return { ok: false, refusal: refusalOf(body as Wire) }
    const found = await this.#loadOne({ id: String((body as Wire)['id']) })
    if (found === undefined) throw new Error('pawl: the gateway has begun an operation that it does not know')
    return { ok: true, job: found.job, deduped: false, replayed: false }
  }

  async #say(words: readonly Word[], manner?: Manner): Promise<readonly Wire[]> {
    if (words.some(({ tx }) => tx !== undefined))
      throw new Error('pawl: a transaction cannot travel over HTTP; open the database itself.')
    const answers: Wire[] = []
    for (let from = 0; from < words.length; from += BATCH) {
      const texts = words.slice(from, from + BATCH).map(wordText)
      const body = await this.#ok('POST', '/v1/transitions:batch', `{"transitions":[${texts.join(',')}]}`, manner)
      answers.push(...(body['answers'] as readonly Wire[]))
    }
    return answers
  }

  async #loadOne({ id, bodies = [] }: LoadItem): Promise<Loaded | undefined> {
    // What has no path is nothing's name.
    if (!isSegment(id) || id.length > LENGTHS.id) return undefined
    const asked = queryText({ policy: 'true', bodies: '' }, { body: bodies })
    const path = `${pathTo('jobs', id)}?${asked}`
    const { status, body } = await this.#http.request('GET', path)
    if (status === 404) return undefined
    const wire = checked(status, body)
    return {
      job: jobFromWire(wire, wire['policy'] as Policy),
      bodies: (wire['bodies'] ?? {}) as Readonly<Record<string, string>>,
      caused: [],
    }
  }

  async #tally(wanted: string | undefined): Promise<readonly Tally[]> {
    const queues: { readonly queue: string; readonly counts: Readonly<Record<string, number>> }[] = []
    let cursor: string | undefined
    do {
      const body = await this.#ok('GET', `/v1/queues?${queryText({ cursor })}`)
      queues.push(...(body['queues'] as typeof queues))
      cursor = body['cursor'] as string | undefined
    } while (cursor !== undefined)
    const asked = queues.filter(({ queue }) => wanted === undefined || queue === wanted)
    return asked.flatMap(({ queue, counts }) =>
      Object.entries(counts).map(([state, count]) => ({
        tenant: '',
        queue,
        jobType: '',
        state: state as Job['state'],
        count,
      })),
    )
  }

  async #ok(method: string, path: string, text?: string, manner?: Manner): Promise<Wire> {
    const { status, body } = await this.#http.request(method, path, text, manner)
    return checked(status, body)
  }
}

const enqueued = (wire: Wire, policy: Policy): EnqueueAnswer =>
  wire['ok'] === true
    ? {
        ok: true,
        job: jobFromWire(wire['job'] as Wire, policy),
        deduped: wire['deduped'] === true,
        replayed: wire['replayed'] === true,
        effect: wire['effect'] as Effect | undefined,
      }
    : { ok: false, refusal: refusalOf(wire['problem'] as Wire) }

function assignmentOf(wire: Wire, policies: readonly Policy[]): Assignment {
  const { job, policy, fence, inputLater, leaseExpiresAt, input, waitedMs, flow } = wire
  const record = jobFromWire(job as Wire, policies[Number(policy)] as Policy)
  const lease = record.lease && { ...record.lease, fence: String(fence) }
  return {
    job: { ...record, lease } as Job,
    fence: String(fence),
    leaseExpiresAt: Date.parse(String(leaseExpiresAt)),
    input: input as string | undefined,
    inputLater: inputLater === true,
    waitedMs: typeof waitedMs === 'number' ? waitedMs : undefined,
    flow: flow as Assignment['flow'],
  }
}

function answerOf(wire: Wire): Answer {
  const { jobId, rev, state, at, replayed } = wire
  return {
    ok: true,
    jobId: String(jobId),
    rev: Number(rev),
    state: state as State,
    at: Date.parse(String(at)),
    replayed: replayed === true,
    cancel: cancelOf(wire),
  }
}

const cancelOf = ({ cancel }: Wire): CancelRequest | undefined =>
  cancel === undefined ? undefined : (fromWire(cancel) as CancelRequest)
