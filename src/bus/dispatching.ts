/**
 * Claims from the store what a squad has room for, and publishes it to the squad. What is claimed is dispatched under its lease, so nothing is
 * claimed that no worker has said it could begin: a lease must not run out inside a stream.
 */
import { isReturnable } from '../core/dialects/bond.ts'
import { asRequested, requestName } from '../core/dialects/job-request.ts'
import { poolHolder } from '../core/dialects/worker-name.ts'
import { EVERY_PRIORITY } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import type { JobTypes } from '../engine/job-types.ts'
import { addressedBy } from '../engine/topic.ts'
import type { Lane } from '../store/store.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { Link } from './link.ts'
import type { Squad } from './squad.ts'
import { subjectsOf } from './subjects.ts'

export interface DispatchingParts {
  readonly link: Link
  readonly engine: Pick<Engine, 'claim' | 'settle' | 'load' | 'now'>
  readonly types: Pick<JobTypes, 'kind'>
  readonly tenant: string
  readonly timers: Timers
  readonly ids: Ids
  readonly log: Log
}

/** In document 002 it is the scheduler that dispatches: which worker it will be is known when that one starts. */
const ACTOR = 'system:scheduler'
/** How long a claim waits for jobs, and a dispatch for NATS to be back. */
const JOBS_MS = 1_000
const AGAIN_MS = 500
/** Of an input that rides along; one that is longer is where the record says. */
const INPUT_MOST = 256 * 1024
/** For how long the queues of its topics are relied on: a worker may announce another. */
const QUEUES_FRESH_MS = 5_000

export class Dispatching {
  readonly #parts: DispatchingParts
  readonly #squad: Squad
  #lanes: readonly Lane[] = []
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(parts: DispatchingParts, squad: Squad) {
    this.#parts = parts
    this.#squad = squad
  }

  /** As many as that, as soon as there are any, within a second. */
  async some(limit: number, signal: AbortSignal): Promise<void> {
    const { engine, ids } = this.#parts
    const { pool, capabilities } = this.#squad
    const found = await engine.claim({
      requestId: ids.requestId(),
      workerId: poolHolder(pool),
      actor: ACTOR,
      lanes: await this.#lanesNow(),
      pool,
      capabilities,
      limit,
      waitMs: JOBS_MS,
      signal,
    })
    await Promise.all(found.map((assignment) => this.#publish(assignment, signal)))
  }

  async #lanesNow(): Promise<readonly Lane[]> {
    const { engine, types, tenant } = this.#parts
    if (engine.now() - this.#askedAt < QUEUES_FRESH_MS) return this.#lanes
    const { topics } = this.#squad
    const queues = await Promise.all(topics.map(async (topic) => (await addressedBy(types, tenant, topic)).queue))
    const each = [...new Set(queues)]
    this.#lanes = EVERY_PRIORITY.flatMap((priority) => each.map((queue) => ({ tenant, queue, priority })))
    this.#askedAt = engine.now()
    return this.#lanes
  }

  /**
   * Until NATS has it, or the lease is over: then it is for the policy to say what becomes of it. Once at least, though we are told to end: a job
   * that cannot be handed back would wait for its lease.
   */
  async #publish(assignment: Assignment, signal: AbortSignal): Promise<void> {
    const { link, engine, tenant, timers, log } = this.#parts
    const { job, fence, leaseExpiresAt } = assignment
    const subject = subjectsOf(tenant).dispatch(this.#squad)
    const text = await this.#textOf(assignment)
    do {
      try {
        await link.jetstream.publish(subject, text, { msgID: `${job.id}/${fence}` })
        return
      } catch (error) {
        log.warn('a dispatch is not out yet', { job_id: job.id, pool: this.#squad.pool, reason: reasonOf(error) })
        await timers.sleep(AGAIN_MS, signal)
      }
    } while (!signal.aborted && engine.now() < leaseExpiresAt)
    await this.#handBack(assignment)
  }

  /** Others may have it at once, where its policy knows that; else when its lease is over. */
  async #handBack({ job, fence }: Assignment): Promise<void> {
    const { engine, tenant, ids, log } = this.#parts
    log.warn('a dispatch did not get out', { job_id: job.id, pool: this.#squad.pool })
    if (!isReturnable(job.spec.kind.policy)) return
    const command = { type: 'release', fence, reason: 'handed_back', actor: ACTOR, requestId: ids.requestId() } as const
    await engine.settle([{ id: job.id, tenant, command }])
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
