/**
 * Claims. Calls of one process go to the database one after the other on a connection of their own.
 *
 * Where a lane is being drained in big batches, the next claim starts at the `readyAt` the last one reached: with a
 * snapshot held open elsewhere the entries of all rows claimed since lie dead in front of it, and walking them made a
 * claim twice as dear (21 → 45 µs per job, growing). From the beginning again once a second, and whenever there was
 * less than wanted.
 */

import { fenceOf } from '../../core/ownership.ts'
import type { Clock } from '../../system/clock.ts'
import { laneNumber } from '../codec/lane.ts'
import { original, storable } from '../codec/text.ts'
import type { ClaimAnswer, ClaimedJob, Grant, Lane } from '../store.ts'
import type { Bundles } from './bundles.ts'
import { CREATED_AT, DOC, FLUSHED, HEAD, ID, INPUT, jobRows, KIND, LANE, STEP } from './claim-rows.ts'
import type { Row } from './client.ts'
import type { Connection } from './connection.ts'
import type { Kinds } from './kinds.ts'
import { keyText } from './new-row.ts'
import { recordOf } from './records.ts'
import type { Given, Standing } from './standing.ts'
import type { Statements } from './statements.ts'
import { attemptOf } from './step.ts'
import { literal } from './uniform.ts'

export interface ClaimParts {
  readonly connection: Connection
  readonly kinds: Kinds
  readonly statements: Statements
  readonly clock: Clock
  readonly standing: Standing
  readonly bundles: Bundles
  /** Where this process can be told what was given to it; absent: nothing may be, and no claim stands. */
  readonly ownChannel: () => string | undefined
  /** It was told something and has not heard it. */
  readonly deaf: () => void
  /** The record before a claim that has been written to the log since. */
  readonly beforeClaim: (id: number, attempt: number) => Promise<ClaimedJob['before']>
  readonly sawClock: (now: number) => void
}

/** Smaller claims are about latency and order, not about throughput. */
const DRAINING_FROM = 50
const FROM_THE_BEGINNING_MS = 1_000
/** Longer than any notification takes to a process that listens. */
const HEARD_WITHIN_MS = 500

export class Claims {
  readonly #parts: ClaimParts
  /** By lane: where the last full claim ended. Forgotten once a second. */
  #reached = new Map<number, number>()
  #forgetAt = 0

  constructor(parts: ClaimParts) {
    this.#parts = parts
  }

  async claim(grant: Grant): Promise<ClaimAnswer> {
    const { kinds, standing } = this.#parts
    if (grant.lanes.some(({ tenant, queue }) => kinds.queue(tenant, queue) === undefined)) {
      await kinds.internQueues(grant.lanes)
    }
    // A lane that is asked for twice would give each of its jobs twice.
    const lanes = [...new Set(grant.lanes.map((lane) => this.#number(lane)))]
    const draining = grant.limit >= DRAINING_FROM
    const { rows, now, stood } = standing.take(grant) ?? (await this.#asked(grant, lanes, draining))
    const [head] = rows
    const found = jobRows(rows)
    // The claim's own time, which its jobs are stamped with; another call may have seen a later one meanwhile.
    const at = Number(head?.[STEP])
    await kinds.ensure(found.map((row) => Number(row[KIND])))
    const jobs: ClaimedJob[] = []
    for (const row of found) {
      const before = row[FLUSHED] === true ? await this.#beforeClaim(row) : this.#before(row)
      jobs.push(this.#claimed(row, before, at))
    }
    const nonce = String(head?.[HEAD])
    this.#remember(jobs, nonce, head?.[DOC])
    if (head?.[FLUSHED] === true) {
      // Given while it stood: nobody has seen this answer yet.
      const replayed = found.length > 0 && (!stood || found.some((row) => row[FLUSHED] === true))
      return { now, nonce, replayed, jobs }
    }
    this.#putInOrder(jobs, lanes)
    if (draining) this.#reach(jobs, lanes, grant.limit)
    return { now, nonce, stands: standing.has(grant), replayed: false, jobs }
  }

  #number({ tenant, queue, priority }: Lane): number {
    return laneNumber(this.#parts.kinds.queue(tenant, queue) ?? 0, priority)
  }

  async #asked(grant: Grant, lanes: readonly number[], draining: boolean): Promise<Given> {
    const { standing, deaf, sawClock } = this.#parts
    for (;;) {
      const stood = standing.has(grant)
      const rows = await this.#found(grant, lanes, draining, stood)
      const now = Number(rows[0]?.[CREATED_AT])
      sawClock(now)
      if (stood && rows[0]?.[FLUSHED] === true && now - Number(rows[0][STEP]) > HEARD_WITHIN_MS) deaf()
      if (!standing.isGiven(grant)) return { rows, now, stood }
      // Given something before its answer came: it is here, or asked for again.
      const given = standing.take(grant)
      if (given !== undefined) return given
    }
  }

  async #found(grant: Grant, lanes: readonly number[], draining: boolean, stood: boolean): Promise<Row[]> {
    const starts = this.#starts(lanes, draining)
    if (starts.some((start) => start > 0)) {
      const rows = await this.#ask({ ...grant, stand: undefined }, lanes, starts, stood)
      // Otherwise nothing was claimed, so nothing is remembered under the request: it may be asked from the beginning.
      if (rows.length > 1 || rows[0]?.[FLUSHED] === true) return rows
    }
    const zeros = lanes.map(() => 0)
    return this.#ask(grant, lanes, zeros, stood)
  }

  /** Asks, and stands where it may and there is nothing. */
  async #ask(grant: Grant, lanes: readonly number[], starts: readonly number[], stood: boolean): Promise<Row[]> {
    const { connection, standing, statements, ownChannel } = this.#parts
    const { requestId, workerId, actor, nonce, limit, maxInputBytes, stand } = grant
    const channel = stand === undefined ? undefined : ownChannel()
    if (channel !== undefined) standing.asked(grant)
    const rows = await connection.run(statements.claim, () => [
      keyText(requestId),
      keyText(requestId) === storable(requestId) ? null : storable(requestId),
      storable(workerId),
      storable(actor),
      nonce,
      literal(lanes),
      literal(starts),
      limit,
      maxInputBytes,
      stood,
      channel === undefined ? undefined : stand?.ms,
      stand?.limit,
      channel,
    ])
    const [head] = rows
    if (typeof head?.[ID] === 'number') standing.answered(grant, Number(head[CREATED_AT]))
    else standing.forget(grant)
    return rows
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
    const placeOf = (job: ClaimedJob) => (lanes.length === 1 ? 0 : lanes.indexOf(this.#laneOf(job.before)))
    const compare = (a: ClaimedJob, b: ClaimedJob) => placeOf(a) - placeOf(b) || byTime(a.before, b.before)
    if (jobs.some((job, n) => n > 0 && compare(jobs[n - 1] as ClaimedJob, job) > 0)) jobs.sort(compare)
  }

  /** All jobs of a bundle are at their first attempt. */
  #remember([first]: readonly ClaimedJob[], nonce: string, bundle: Row[number] | undefined): void {
    if (first === undefined || typeof bundle !== 'string') return
    this.#parts.bundles.remember(fenceOf(first.before.generation, first.attempt, nonce), Number(bundle))
  }

  #reach(jobs: readonly ClaimedJob[], lanes: readonly number[], limit: number): void {
    if (jobs.length < limit) this.#reached.clear()
    else if (lanes.length === 1) this.#reached.set(lanes[0] as number, jobs.at(-1)?.before.readyAt ?? 0)
    else for (const { before } of jobs) this.#reached.set(this.#laneOf(before), before.readyAt ?? 0)
  }

  #laneOf({ spec, priority }: ClaimedJob['before']): number {
    return laneNumber(this.#parts.kinds.of(spec.kind).queue, priority)
  }

  #beforeClaim(row: Row): Promise<ClaimedJob['before']> {
    return this.#parts.beforeClaim(Number(row[ID]), attemptOf(Number(row[STEP])))
  }

  #claimed(row: Row, before: ClaimedJob['before'], at: number): ClaimedJob {
    return {
      before,
      rev: before.rev + 1,
      attempt: before.attempt + 1,
      leaseExpiresAt: at + this.#parts.kinds.byId(Number(row[KIND])).windowMs,
      at,
      input: row[INPUT] === null ? undefined : original(String(row[INPUT])),
    }
  }

  #before(row: Row): ClaimedJob['before'] {
    return recordOf({
      id: Number(row[ID]),
      createdAt: Number(row[CREATED_AT]),
      kind: this.#parts.kinds.byId(Number(row[KIND])).kind,
      lane: Number(row[LANE]),
      head: text(row[HEAD]),
      doc: text(row[DOC]),
      claim: null,
      beats: null,
      log: null,
    })
  }
}

/** Numbers of the same length are in the order of their texts. */
const byTime = (a: ClaimedJob['before'], b: ClaimedJob['before']): number =>
  (a.readyAt ?? 0) - (b.readyAt ?? 0) || a.id.length - b.id.length || (a.id < b.id ? -1 : 1)

const text = (value: Row[number] | undefined): string | null => (typeof value === 'string' ? value : null)
