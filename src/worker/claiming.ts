/**
 * Which lanes to ask and for how many jobs. Prefetching hides the store's latency from short jobs; it is bounded by
 * what the worker can start within half a lease, judged by how long handlers take, so that long jobs are not hoarded.
 */
import { assert } from '../core/assert.ts'
import { canBeHandedBack } from '../core/dialects/bond.ts'
import { afterClaim, type LaneUse, orderLanes } from '../core/lanes.ts'
import { COUNTS } from '../core/limits.ts'
import type { Policy } from '../core/policy.ts'
import { leaseWindowMs } from '../core/timers.ts'
import type { Assignment, ClaimRequest, Engine } from '../engine/engine.ts'
import type { Lane } from '../store/store.ts'

export interface QueueShare {
  readonly tenant: string
  readonly queue: string
  readonly weight: number
}

export interface ClaimingOptions {
  readonly engine: Pick<Engine, 'claim' | 'now'>
  readonly workerId: string
  readonly concurrency: number
  readonly prefetchMax: number
  readonly queues: readonly QueueShare[]
  readonly ageMs: number
}

/** How long an answer may be waited for, and what ends that. Empty: not at all. */
export type Wait = Pick<ClaimRequest, 'waitMs' | 'pollMs' | 'signal'>

export const CLAIM_MAX = 500

export class Claiming {
  readonly #options: ClaimingOptions
  #uses: readonly LaneUse[]
  /** Claims whose answers were lost are repeated under their own ids: what they were given is given again. */
  readonly #unanswered: string[] = []
  #claims = 0
  /** How long handlers take: quick to rise, slow to fall. Undefined: nobody knows yet. */
  #tookMs: number | undefined
  #shortestWindowMs = Number.POSITIVE_INFINITY
  #hoards = true

  constructor(options: ClaimingOptions) {
    this.#options = options
    const since = options.engine.now()
    this.#uses = options.queues.flatMap(({ tenant, queue, weight }) => {
      assert(weight > 0 && Number.isFinite(weight), `the weight of queue ${queue} is a number above 0`)
      return PRIORITIES.map((priority) => ({ lane: { tenant, queue, priority }, weight, pass: 0, hungrySince: since }))
    })
  }

  /** A job of this policy is among those held. Where it cannot be handed back, whatever is claimed must begin at once. */
  expect(policy: Policy): void {
    this.#shortestWindowMs = Math.min(this.#shortestWindowMs, leaseWindowMs(policy))
    this.#hoards &&= canBeHandedBack(policy)
  }

  took(ms: number): void {
    const before = this.#tookMs
    if (before === undefined) this.#tookMs = ms
    else this.#tookMs = before + (ms - before) * (ms > before ? 0.3 : 0.05)
  }

  /** A handler that is still running has taken this long already: that can only raise what is known. */
  tookAtLeast(ms: number): void {
    if (this.#tookMs !== undefined && ms > this.#tookMs) this.took(ms)
  }

  /** How many jobs may be held beyond those that run. */
  get prefetch(): number {
    if (this.#tookMs === undefined || !this.#hoards) return 0
    const { concurrency, prefetchMax } = this.#options
    const startable = (concurrency * (this.#shortestWindowMs / 2)) / Math.max(this.#tookMs, 0.001)
    return Math.min(prefetchMax, Math.floor(startable))
  }

  async claim(limit: number, wait: Wait = {}): Promise<readonly Assignment[]> {
    const { engine, workerId, ageMs } = this.#options
    const asked = orderLanes(this.#uses, engine.now(), ageMs)
    const lanes = asked.map(({ lane }) => lane)
    const unanswered = this.#unanswered.shift()
    const requestId = unanswered ?? `${workerId}/claim/${++this.#claims}`
    // What a repeated claim was given is there or lost: nothing comes for it by waiting.
    const request = { requestId, workerId, lanes, limit, ...(unanswered === undefined ? wait : {}) }
    const assignments = await this.#asked(request)
    this.#uses = afterClaim(this.#uses, asked, countByLane(lanes, assignments), limit, engine.now())
    return assignments
  }

  /** What was given to claims that were not answered, and nothing new. */
  async recover(): Promise<readonly Assignment[]> {
    const { workerId } = this.#options
    const found: Assignment[] = []
    for (let requestId = this.#unanswered.shift(); requestId !== undefined; requestId = this.#unanswered.shift()) {
      found.push(...(await this.#asked({ requestId, workerId, lanes: [], limit: 1 })))
    }
    return found
  }

  async #asked(request: ClaimRequest): Promise<readonly Assignment[]> {
    try {
      return await this.#options.engine.claim(request)
    } catch (error) {
      this.#unanswered.push(request.requestId)
      throw error
    }
  }
}

const PRIORITIES = Array.from(
  { length: COUNTS.priority.max - COUNTS.priority.min + 1 },
  (_, i) => i + COUNTS.priority.min,
)

/** Assignments come in the order of the lanes: one walk finds each job's lane. */
function countByLane(lanes: readonly Lane[], assignments: readonly Assignment[]): readonly number[] {
  const counts: number[] = new Array(lanes.length).fill(0)
  let at = 0
  for (const { job } of assignments) {
    const { tenant, queue } = job.spec.kind
    const isIts = (lane: Lane | undefined): boolean =>
      lane !== undefined && lane.priority === job.priority && lane.queue === queue && lane.tenant === tenant
    if (!isIts(lanes[at])) at = lanes.findIndex(isIts)
    if (at === -1) at = 0
    else counts[at] = (counts[at] ?? 0) + 1
  }
  return counts
}
