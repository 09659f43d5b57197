/**
 * Claims. Calls of one process go to the database one after the other on a connection of their own.
 *
 * Where a lane is being drained in big batches, the next claim starts at the `readyAt` the last one reached: with a
 * snapshot held open elsewhere the entries of all rows claimed since lie dead in front of it, and walking them made a
 * claim twice as dear (21 → 45 µs per job, growing). From the beginning again once a second, and whenever there was
 * less than wanted.
 */

import { assert } from '../../../core/assert.ts'
import { fenceOf } from '../../../core/fence.ts'
import type { Job } from '../../../core/job.ts'
import { leaseEnd } from '../../../core/timers.ts'
import type { Clock } from '../../../system/clock.ts'
import { laneNumber } from '../../codec/lane.ts'
import { original, storable } from '../../codec/text.ts'
import { letInFirst, sideLanes } from '../../side-lanes.ts'
import type { ClaimAnswer, ClaimedJob, Grant, Lane } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Bundles } from '../bundle/bundles.ts'
import type { Row } from '../connection/client.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { keyText } from '../enqueue/new-row.ts'
import type { Letting } from '../flow/letting.ts'
import type { Kinds } from '../names/kinds.ts'
import { isLetInLane, letInLane } from '../names/let-in-lane.ts'
import type { Sides } from '../names/sides.ts'
import { recordOf } from '../read/records.ts'
import { RIDES_BYTES, withBigInputs } from './big-inputs.ts'
import { type ClaimedRow, type ClaimHeader, headerOf, jobsIn } from './claim-answer.ts'
import { queuesAmong } from './lanes-asked.ts'
import { NOBODY_TOLD, type ToldKeys, toldIn, toldOf } from './told-keys.ts'

export interface ClaimParts {
  readonly connection: Connection
  readonly kinds: Kinds
  readonly sides: Pick<Sides, 'of' | 'learn' | 'isLimited'>
  readonly statements: Statements
  readonly clock: Clock
  readonly bundles: Bundles
  /** The record before a claim that has been written to the log since. */
  readonly beforeClaim: (id: number, attempt: number) => Promise<ClaimedJob['before']>
  readonly sawClock: (now: number) => void
  readonly letting: Pick<Letting, 'claimed'>
}

/** An answer as it came, and the store's clock now. */
export interface Found {
  readonly header: ClaimHeader
  readonly row: Row
  readonly now: number
}

/** A claim that finds nothing is parked for `ms`; the transaction that enqueues for it answers it on `channel`. */
export interface Park {
  readonly channel: string
  readonly ms: number
}

export interface Asking {
  /** The claim may be parked already. Asking ends that, and brings the jobs that were claimed for it meanwhile. */
  readonly isParked: boolean
  readonly park?: Park | undefined
}

/** Lanes by number, in the order in which they are asked for. */
interface Asked {
  readonly numbers: readonly number[]
  /** From when on each is read. Absent: from the beginning. */
  readonly starts: readonly number[]
  /** Present where the lanes are many: only those with jobs are walked. */
  readonly queues: readonly number[] | undefined
}

/** Smaller claims are about latency and order, not about throughput. */
const DRAINING_FROM = 50
const FROM_THE_BEGINNING_MS = 1_000

export class Claims {
  readonly #parts: ClaimParts
  /** By lane: the `readyAt` at which the last full claim ended. Forgotten once a second. */
  #reached = new Map<number, number>()
  #forgetAt = 0

  constructor(parts: ClaimParts) {
    this.#parts = parts
  }

  async claim(grant: Grant): Promise<ClaimAnswer> {
    return this.answer(grant, await this.ask(grant, grant.lanes, { isParked: false }), false)
  }

  /** Claims what there is in these lanes, and parks the claim where there is nothing and it may be. */
  async ask(grant: Grant, lanes: readonly Lane[], asking: Asking): Promise<Found> {
    const { kinds, sides } = this.#parts
    if (lanes.some((lane) => kinds.ofLane(lane) === undefined)) await kinds.internQueues(lanes)
    await sides.learn(lanes)
    const numbers = this.#numbers(grant, lanes)
    const queues = queuesAmong(numbers, asking.park !== undefined)
    if (queues !== undefined) return this.#ask(grant, { numbers, starts: [], queues }, asking)
    const starts = this.#starts(numbers, isDraining(grant))
    if (starts.some((start) => start > 0)) {
      const found = await this.#ask(grant, { numbers, starts, queues }, { ...asking, park: undefined })
      // Otherwise nothing was claimed, so nothing is remembered under the request: it may be asked from the beginning.
      if (found.header.hasJobs || found.header.isRepeat) return found
    }
    return this.#ask(grant, { numbers, starts: [], queues }, asking)
  }

  /** `isUnseen`: whatever it repeats was given to this very claim while it was parked, and nobody has seen it yet. */
  async answer(grant: Grant, { header, row, now }: Found, isUnseen: boolean): Promise<ClaimAnswer> {
    const { kinds } = this.#parts
    const rows = jobsIn(row)
    await kinds.ensure(rows.map(({ kind }) => kind))
    const plain: ClaimedJob[] = []
    const told = toldIn(row)
    for (const each of rows) {
      const { id, loggedAttempt } = each
      const before = loggedAttempt === null ? this.#before(each) : await this.#parts.beforeClaim(id, loggedAttempt)
      plain.push(this.#claimed(each, before, header.at, told))
    }
    const { connection, statements } = this.#parts
    const jobs = await withBigInputs(plain, grant.maxInputBytes, { connection, statement: statements.inputs })
    this.#remember(jobs, header)
    if (told !== NOBODY_TOLD) this.#makeRoom(jobs)
    if (header.isRepeat) {
      const isOurs = isUnseen && header.nonce === grant.nonce && rows.every((each) => each.loggedAttempt === null)
      return { now, replayed: !isOurs, jobs }
    }
    if (jobs.length > 1 || isDraining(grant)) {
      const lanes = this.#numbers(grant, grant.lanes)
      if (jobs.length > 1) this.#putInOrder(jobs, lanes)
      if (isDraining(grant)) this.#reach(jobs, lanes, grant.limit)
    }
    return { now, replayed: false, jobs, contended: header.isContended }
  }

  /**
   * Each behind its side lanes, each of those before or behind its let-in lane, where it may have something for this claim. A
   * lane that is asked for twice would give each of its jobs twice.
   */
  #numbers(grant: Grant, lanes: readonly Lane[]): readonly number[] {
    const { kinds, sides } = this.#parts
    const numbers = new Set<number>()
    const add = (queue: number, priority: number) => {
      const lane = laneNumber(queue, priority)
      const hasLimited = sides.isLimited(queue) && grant.limited !== 0
      if (hasLimited && letInFirst(grant)) numbers.add(letInLane(lane))
      numbers.add(lane)
      if (hasLimited) numbers.add(letInLane(lane))
    }
    for (const lane of lanes) {
      const queue = kinds.ofLane(lane) ?? 0
      for (const side of sideLanes(sides.of(queue), grant)) add(side, lane.priority)
      add(queue, lane.priority)
    }
    return [...numbers]
  }

  async #ask(grant: Grant, { numbers, starts, queues }: Asked, asking: Asking): Promise<Found> {
    const { connection, statements, sawClock } = this.#parts
    const { requestId, workerId, actor, nonce, limit, maxInputBytes } = grant
    const { isParked, park } = asking
    const hasLimited = numbers.some(isLetInLane)
    const free = hasLimited ? [grant.limited ?? limit] : []
    const [row] = await connection.run(hasLimited ? statements.claimLimited : statements.claim, () => [
      keyText(requestId),
      keyText(requestId) === storable(requestId) ? null : storable(requestId),
      storable(workerId),
      storable(actor),
      nonce,
      literal(numbers),
      literal(starts),
      limit,
      Math.min(maxInputBytes, RIDES_BYTES),
      isParked,
      park?.ms,
      park?.channel,
      ...free,
      queues && literal(queues),
    ])
    assert(row !== undefined, 'a claim is answered')
    const header = headerOf(row)
    sawClock(header.now)
    return { header, row, now: header.now }
  }

  #starts(lanes: readonly number[], draining: boolean): readonly number[] {
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs >= this.#forgetAt) {
      this.#reached.clear()
      this.#forgetAt = nowMs + FROM_THE_BEGINNING_MS
    }
    return lanes.map((lane) => (draining ? (this.#reached.get(lane) ?? 0) : 0))
  }

  /** Lanes as they were asked for, each by time and number: as the rows were taken. Mostly they come like that. */
  #putInOrder(jobs: ClaimedJob[], lanes: readonly number[]): void {
    const places = new Map(lanes.map((lane, place) => [lane, place]))
    const placeOf = ({ before }: ClaimedJob) => (lanes.length === 1 ? 0 : (places.get(this.#lane(before)) ?? 0))
    const compare = (a: ClaimedJob, b: ClaimedJob) => placeOf(a) - placeOf(b) || byTime(a.before, b.before)
    if (jobs.some((job, n) => n > 0 && compare(jobs[n - 1] as ClaimedJob, job) > 0)) jobs.sort(compare)
  }

  /** Others are let in where jobs were taken that had been. */
  #makeRoom(jobs: readonly ClaimedJob[]): void {
    const limited = jobs.map(({ before }) => before).filter(({ spec }) => spec.flow !== undefined)
    if (limited.length > 0) void this.#parts.letting.claimed(limited).catch(() => {})
  }

  /** Remembers a bundle by its first job's fence: all jobs of a bundle are at their first attempt, and so have the same. */
  #remember([first]: readonly ClaimedJob[], { nonce, bundle }: ClaimHeader): void {
    if (first === undefined || bundle === undefined) return
    this.#parts.bundles.remember(fenceOf(first.before.generation, first.attempt, nonce), bundle)
  }

  /** The lane it was claimed from. */
  #lane(job: Job): number {
    const lane = this.#parts.kinds.lane(job)
    return job.spec.flow === undefined ? lane : letInLane(lane)
  }

  #reach(jobs: readonly ClaimedJob[], lanes: readonly number[], limit: number): void {
    if (jobs.length < limit) this.#reached.clear()
    else if (lanes.length === 1) this.#reached.set(lanes[0] as number, jobs.at(-1)?.before.readyAt ?? 0)
    else for (const { before } of jobs) this.#reached.set(this.#lane(before), before.readyAt ?? 0)
  }

  #claimed({ kind, input }: ClaimedRow, before: Job, at: number, told: ToldKeys): ClaimedJob {
    const claimed = {
      before,
      rev: before.rev + 1,
      attempt: before.attempt + 1,
      leaseExpiresAt: leaseEnd(at, this.#parts.kinds.byId(kind).windowMs),
      at,
      input: input === null ? undefined : original(input),
    }
    return told === NOBODY_TOLD ? claimed : { ...claimed, flow: toldOf(told, before.spec) }
  }

  #before({ id, createdAt, kind, lane, head, doc }: ClaimedRow): ClaimedJob['before'] {
    const birth = { id, createdAt, kind: this.#parts.kinds.byId(kind).kind, lane, head }
    return recordOf({ ...birth, doc, claim: null, beats: null, log: null })
  }
}

const isDraining = ({ limit }: Grant): boolean => limit >= DRAINING_FROM

/** Numbers of the same length are in the order of their texts. Let-in lanes are in the order of letting in, as they come. */
const byTime = (a: ClaimedJob['before'], b: ClaimedJob['before']): number =>
  a.spec.flow !== undefined
    ? 0
    : (a.readyAt ?? 0) - (b.readyAt ?? 0) || a.id.length - b.id.length || (a.id < b.id ? -1 : 1)
