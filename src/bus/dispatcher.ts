/**
 * The scheduler's half of document 002 that picks pool and subject: claims from the store what a pool has room for, and publishes it to the
 * pool. What is claimed is dispatched under its lease, so nothing is claimed that no worker has said it could begin: a lease must not run out
 * inside a stream. Modes, for each pool: not its turn; waiting for room; waiting for jobs, at most a second, since room is soon out of date.
 */
import type { Msg } from '@nats-io/transport-node'
import { asRequested, requestName } from '../core/dialects/job-request.ts'
import { EVERY_PRIORITY } from '../core/job.ts'
import { AT_ONCE } from '../core/limits.ts'
import { reasonOf } from '../core/reason.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Link } from './link.ts'
import { heartbeat, read, start } from './messages.ts'
import { AckPolicy } from './policies.ts'
import { Pools } from './pools.ts'
import { streamsOf, subjectsOf, tokenOf, turnOf } from './subjects.ts'
import { ASK_AGAIN_MS, Turn } from './turn.ts'

export interface DispatcherParts {
  readonly link: Link
  readonly engine: Pick<Engine, 'claim' | 'settle' | 'load' | 'now'>
  readonly tenant: string
  readonly timers: Timers
  readonly monotonicMs: () => number
  readonly ids: Ids
  readonly log: Log
}

/** How long a claim waits for jobs, a pool for room, and a dispatch for NATS to be back. */
const JOBS_MS = 1_000
const ROOM_MS = 200
const AGAIN_MS = 500
/** A dispatch that its worker has neither begun nor given back is another worker's after this long. */
const BEGUN_WITHIN_NS = 5_000_000_000
/** Pools that one process dispatches to. Heartbeats for others are not heard: anybody may make up a name. */
const POOLS_MOST = 1_000
/** Of an input that rides along; one that is longer is where the record says. */
const INPUT_MOST = 256 * 1024

export class Dispatcher implements AsyncDisposable {
  readonly #parts: DispatcherParts
  readonly #pools: Pools
  readonly #services = new Map<string, Service>()
  readonly #listening: readonly { unsubscribe(): void }[]

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#pools = new Pools(parts.monotonicMs)
    const { connection } = parts.link
    const subjects = subjectsOf(parts.tenant)
    const hear = (subject: string, heard: (text: string) => void) =>
      connection.subscribe(subject, {
        callback: (error: Error | null, message: Msg) => void (error === null && heard(message.string())),
      })
    this.#listening = [
      hear(subjects.heartbeat, (text) => this.#heard(text)),
      hear(subjects.start, (text) => {
        const said = read(start, text)
        if (said.ok) this.#pools.began(said.value.worker_id)
      }),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#listening) each.unsubscribe()
    await Promise.all([...this.#services.values()].map((each) => each.stop()))
  }

  #heard(text: string): void {
    const said = read(heartbeat, text)
    if (!said.ok) return
    const { pool } = said.value
    const known = this.#services.get(pool)
    if (known === undefined && this.#services.size >= POOLS_MOST) return
    this.#pools.heard(said.value)
    if (known === undefined) this.#serve(pool)
    else known.wake()
  }

  #serve(pool: string): void {
    const { link, tenant, timers, monotonicMs, log } = this.#parts
    const turn = new Turn(link, turnOf(tenant).pool(pool), monotonicMs)
    let isPrepared = false
    const round = async (signal: AbortSignal) => {
      const room = this.#pools.roomIn(pool)
      if (room === undefined) return this.#leave(pool)
      if (!isPrepared) await this.#prepare(pool)
      isPrepared = true
      if (!(await turn.take())) return ASK_AGAIN_MS
      const limit = Math.min(room.free - (await this.#underWay(pool)), AT_ONCE.jobs)
      if (limit <= 0) return ROOM_MS
      await this.#dispatch(pool, { limit, serves: room.serves }, signal)
      return 0
    }
    const loop = service({ name: `bus ${pool}`, everyMs: AGAIN_MS, timers, log, round })
    this.#services.set(pool, loop)
    loop.start()
  }

  #leave(pool: string): number {
    const loop = this.#services.get(pool)
    this.#services.delete(pool)
    void loop?.stop()
    return 0
  }

  /** Its workers take from one consumer, which is there before the first of them asks. */
  async #prepare(pool: string): Promise<void> {
    const { link, tenant } = this.#parts
    await link.demand(`pool ${pool}`, async ({ consumers }) => {
      await consumers.add(streamsOf(tenant).dispatches, {
        durable_name: tokenOf(pool),
        filter_subject: subjectsOf(tenant).dispatch(pool),
        ack_policy: AckPolicy.Explicit,
        ack_wait: BEGUN_WITHIN_NS,
        max_ack_pending: AT_ONCE.jobs * 10,
        max_waiting: AT_ONCE.jobs * 10,
      })
    })
  }

  /** Dispatches that no worker has begun yet. */
  async #underWay(pool: string): Promise<number> {
    const { link, tenant } = this.#parts
    const info = await link.manager.consumers.info(streamsOf(tenant).dispatches, tokenOf(pool))
    return info.num_pending + info.num_ack_pending
  }

  async #dispatch(
    pool: string,
    wanted: { readonly limit: number; readonly serves: readonly string[] | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, tenant, ids } = this.#parts
    const found = await engine.claim({
      requestId: ids.requestId(),
      // Which worker it will be is known when that one starts.
      workerId: `pool:${pool}`,
      lanes: EVERY_PRIORITY.map((priority) => ({ tenant, queue: pool, priority })),
      ...wanted,
      waitMs: JOBS_MS,
      signal,
    })
    await Promise.all(found.map((assignment) => this.#publish(pool, assignment, signal)))
  }

  /** Until NATS has it, or the lease is over: then it is for the policy to say what becomes of it. */
  async #publish(pool: string, assignment: Assignment, signal: AbortSignal): Promise<void> {
    const { link, engine, tenant, timers, log } = this.#parts
    const { job, fence, leaseExpiresAt } = assignment
    const text = await this.#textOf(assignment)
    while (!signal.aborted && engine.now() < leaseExpiresAt) {
      try {
        await link.jetstream.publish(subjectsOf(tenant).dispatch(pool), text, { msgID: `${job.id}/${fence}` })
        return
      } catch (error) {
        log.warn('a dispatch is not out yet', { job_id: job.id, pool, reason: reasonOf(error) })
        await timers.sleep(AGAIN_MS, signal)
      }
    }
    await this.#handBack(assignment)
  }

  /** Others may have it at once, where its policy knows that; else when its lease is over. */
  async #handBack({ job, fence }: Assignment): Promise<void> {
    const { engine, tenant, ids, log } = this.#parts
    const actor = 'system:scheduler'
    const command = { type: 'release', fence, reason: 'handed_back', actor, requestId: ids.requestId() } as const
    const [answer] = await engine.settle([{ id: job.id, tenant, command }])
    if (answer?.ok !== true) log.warn('a dispatch did not get out', { job_id: job.id, reason: answer?.refusal.message })
  }

  async #textOf({ job, fence, leaseExpiresAt, input, inputLater }: Assignment): Promise<string> {
    const { heartbeatMs } = job.spec.kind.policy
    const head = JSON.stringify({
      job_id: requestName(job),
      ...asRequested(job),
      fence,
      lease_expires_at: new Date(leaseExpiresAt).toISOString(),
      heartbeat_ms: heartbeatMs,
    })
    const body = inputLater ? await this.#inputOf(job.id) : input
    return body === undefined || body.length > INPUT_MOST ? head : `${head.slice(0, -1)},"input":${body}}`
  }

  async #inputOf(id: string): Promise<string | undefined> {
    const { engine, tenant } = this.#parts
    const [found] = (await engine.load([{ id, tenant, bodies: ['input'] }])).items
    return found?.bodies['input']
  }
}
