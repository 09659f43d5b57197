/** Which lanes are asked, in which order, and what each of them gave. */
import { assert } from '../core/assert.ts'
import { afterClaim, type Draw, drawFrom, type LaneUse, orderLanes } from '../core/lanes.ts'
import { COUNTS } from '../core/limits.ts'
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
  readonly queues: readonly QueueShare[]
  /** Types it has handlers for. */
  readonly serves: readonly string[]
  readonly pool: string | undefined
  readonly capabilities: readonly string[] | undefined
  readonly ageMs: number
}

/** The jobs that one lane gave to one claim. */
export interface Portion {
  readonly draw: Draw
  readonly assignments: readonly Assignment[]
}

/** How long a claim may wait for work, and what ends that. Empty: it does not wait. */
export type Wait = Pick<ClaimRequest, 'waitMs' | 'pollMs' | 'signal'>

/**
 * The most that one claim asks for: below what a gateway lets a claim ask for (`AT_ONCE.jobs`). The lease table has room for
 * twice as many beside what is held: for what the claims under way may bring.
 */
export const CLAIM_MAX = 500

export class Claiming {
  readonly #options: ClaimingOptions
  #uses: readonly LaneUse[]
  /** All lanes, by the name of their queue: a worker of a hundred queues has a thousand. */
  readonly #lanesOf: ReadonlyMap<string, readonly Lane[]>
  /** Claims whose answers were lost are repeated under their own ids: what they were given is given again. */
  readonly #unanswered: string[] = []
  #claims = 0

  constructor(options: ClaimingOptions) {
    this.#options = options
    const since = options.engine.now()
    this.#uses = options.queues.flatMap(({ tenant, queue, weight }) => {
      assert(weight > 0 && Number.isFinite(weight), `the weight of queue ${queue} is a number above 0`)
      return PRIORITIES.map((priority) => ({ lane: { tenant, queue, priority }, weight, pass: 0, hungrySince: since }))
    })
    this.#lanesOf = Map.groupBy(
      this.#uses.map(({ lane }) => lane),
      ({ queue }) => queue,
    )
  }

  /** `limited`: how many of them may have a flow. */
  async claim(limit: number, limited: number, wait: Wait = {}): Promise<readonly Portion[]> {
    const { engine, workerId, serves, pool, capabilities, ageMs } = this.#options
    const askedAt = engine.now()
    const asked = orderLanes(this.#uses, askedAt, ageMs)
    const lanes = asked.map(({ lane }) => lane)
    const unanswered = this.#unanswered.shift()
    const requestId = unanswered ?? `${workerId}/claim/${++this.#claims}`
    // A claim under a repeated request id gets what it was given then, or nothing: waiting brings it no more.
    const able = { serves, pool, capabilities }
    const request = { requestId, workerId, lanes, ...able, limit, limited, ...(unanswered === undefined ? wait : {}) }
    const found = byLane(this.#lanesOf, await this.#asked(request))
    const portions = this.#portionsOf(found, asked, askedAt)
    const gave = lanes.map((lane) => found.get(lane)?.length ?? 0)
    this.#uses = afterClaim(this.#uses, asked, gave, limit, engine.now())
    return portions
  }

  /** Asks again for claims that were not answered, with no lanes: brings what they were given, and nothing new. */
  async recover(): Promise<readonly Portion[]> {
    const { engine, workerId } = this.#options
    const found: Assignment[] = []
    for (let requestId = this.#unanswered.shift(); requestId !== undefined; requestId = this.#unanswered.shift()) {
      found.push(...(await this.#asked({ requestId, workerId, lanes: [], limit: 1 })))
    }
    return this.#portionsOf(byLane(this.#lanesOf, found), this.#uses, engine.now())
  }

  #portionsOf(found: ReadonlyMap<Lane, readonly Assignment[]>, asked: readonly LaneUse[], askedAt: number): Portion[] {
    if (found.size === 0) return []
    const { ageMs } = this.#options
    const giving = new Map(this.#uses.filter(({ lane }) => found.has(lane)).map((use) => [use.lane, use]))
    return asked.flatMap((use) => {
      const assignments = found.get(use.lane)
      if (assignments === undefined) return []
      return [{ draw: drawFrom(use, giving.get(use.lane) ?? use, askedAt, ageMs), assignments }]
    })
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

/**
 * Assignments come in the order of the lanes: one walk finds where each lane's begin and end. A repeated claim is answered in the
 * order it first had; then a lane's jobs may be found in several places.
 */
function byLane(
  lanesOf: ReadonlyMap<string, readonly Lane[]>,
  assignments: readonly Assignment[],
): ReadonlyMap<Lane, readonly Assignment[]> {
  const found = new Map<Lane, readonly Assignment[]>()
  for (let from = 0, to = 0; from < assignments.length; from = to) {
    const lanes = lanesOf.get(assignments[from]?.job.spec.kind.queue ?? '') ?? []
    const lane =
      lanes.find((each) => isFrom(each, assignments[from])) ?? lanes.find((each) => isNamed(each, assignments[from]))
    assert(lane !== undefined, 'a claim is given jobs of the lanes it names')
    while (isNamed(lane, assignments[to]) && tenantOf(assignments[to]) === tenantOf(assignments[from])) to += 1
    const run = assignments.slice(from, to)
    found.set(lane, found.get(lane)?.concat(run) ?? run)
  }
  return found
}

const isFrom = (lane: Lane, assignment: Assignment | undefined): boolean =>
  isNamed(lane, assignment) && lane.tenant === tenantOf(assignment)

/** Behind a gateway the tenant is the token's, whatever the worker calls it. */
const isNamed = ({ priority, queue }: Lane, assignment: Assignment | undefined): boolean =>
  assignment !== undefined && priority === assignment.job.priority && queue === assignment.job.spec.kind.queue

const tenantOf = (assignment: Assignment | undefined): string | undefined => assignment?.job.spec.kind.tenant
