import { assert } from '../../../core/assert.ts'
import { atLane } from '../../../core/flow/hall.ts'
import { leaseEnd } from '../../../core/timers.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { letInFirst, sideLanes } from '../../side-lanes.ts'
import { type JobCells, jobIn } from '../job-row.ts'
import type { Answered, Asked } from '../protocol.ts'
import { ClaimedJobs } from './claimed-jobs.ts'
import { type FrontCells, frontIn, SHORT } from './front.ts'
import { BELOW_LET_IN, isLetIn, letInLane } from './hall/lanes.ts'
import { laneOf } from './known-kinds.ts'
import type { Ledger } from './ledger.ts'
import { isPaused } from './paused.ts'
import { all, one } from './rows.ts'

type Claim = Asked<'claim'>

/** Claims whose leases are all over are forgotten now and then. */
const FORGET_EVERY = 256

/** Is there anything to write for this claim? An idle worker's question takes no lock and costs no sync. */
export function claimable(ledger: Ledger, claim: Claim): boolean {
  const now = ledger.clock.now()
  if (again(ledger, claim.request, now).length > 0) return true
  return openLanes(ledger, claim).some((lane) => one(ledger.sql.front, lane, now, now) !== undefined)
}

/** Lane by lane, each from its front, until there is enough, or as much as one turn may carry. */
export function claim(ledger: Ledger, asked: Claim): Answered<'claim'> {
  const { sql, now } = ledger
  const jobs = new ClaimedJobs(ledger, asked.maxInputBytes)
  const repeated = again(ledger, asked.request, now)
  if (repeated.length > 0) {
    for (const job of repeated) repeat(ledger, jobs, job)
    return { replayed: true, ...jobs.answer }
  }
  let number: number | undefined
  let limited = asked.limited
  for (const lane of openLanes(ledger, asked)) {
    if (jobs.count >= asked.limit) break
    const most = Math.min(asked.limit - jobs.count, isLetIn(lane) ? limited : asked.limit)
    if (most === 0) continue
    const front = all(sql.claimable, lane, now, now, most).map(frontIn)
    const found = bearable(ledger, jobs.count, front)
    const last = found.at(-1)
    if (last === undefined) continue
    take(ledger, jobs, lane, found)
    number ??= one(sql.insertClaim, now, asked.request, asked.worker, asked.actor)?.[0] as number
    sql.leaseFront.run(asked.nonce, now, number, lane, last.readyAt, last.id)
    sql.deleteFront.run(lane, last.readyAt, last.id, now)
    if (isLetIn(lane)) {
      for (const { id } of found) jobs.addKeys(ledger.usher.claim(id, now))
      ledger.usher.look(atLane(String(lane)))
      limited -= found.length
    }
    if (found.length < front.length) break
  }
  if (number === undefined) return { replayed: false, ...jobs.answer }
  sql.tickClaim.run(jobs.firstEnd, number)
  if (number % FORGET_EVERY === 0) sql.forgetClaims.run(number)
  return { replayed: false, ...jobs.answer }
}

/**
 * The lanes asked for whose queue exists and is not paused, each behind its side lanes; beside each of them the one of those who
 * were let in, unless nobody was.
 */
function openLanes(ledger: Ledger, asked: Claim): readonly number[] {
  const open: number[] = []
  const anyLimited = asked.limited > 0 && one(ledger.sql.nextLane, BELOW_LET_IN) !== undefined
  const sides = new Map<number, readonly number[]>()
  for (const [tenant, queue, priority] of asked.lanes) {
    const number = ledger.kinds.queue(tenant, queue)
    if (number === undefined || isPaused(ledger.sql, tenant, queue)) continue
    const beside = sides.get(number) ?? sideLanes(ledger.kinds.sides(number), asked)
    sides.set(number, beside)
    const lanes = [...beside, number].map((each) => laneOf(each, priority)).filter((lane) => lane !== undefined)
    if (!anyLimited) open.push(...lanes)
    else if (letInFirst(asked)) open.push(...lanes.map(letInLane), ...lanes)
    else open.push(...lanes, ...lanes.map(letInLane))
  }
  return open
}

/** As many jobs from the front as this turn can bear; the first always, or a fat one would never be claimed. */
function bearable({ burden }: Ledger, taken: number, front: readonly FrontCells[]): readonly FrontCells[] {
  for (const [i, { bytes }] of front.entries()) {
    if (taken + i > 0 && burden.isFull) return front.slice(0, i)
    burden.take(bytes)
  }
  return front
}

/** Runs of jobs that are alike, as most are, cost the feed and the counts nothing each. */
function take(ledger: Ledger, jobs: ClaimedJobs, lane: number, found: readonly FrontCells[]): void {
  const { now, gathered } = ledger
  let ids = ''
  let run = 0
  for (const [i, front] of found.entries()) {
    const { id, kind, priority, rev, attempt, state, leaseMs } = front
    const [head, record] = front.bytes <= SHORT ? [front.head, front.record] : longTexts(ledger, lane, front)
    const expiresAt = leaseEnd(now, leaseMs)
    jobs.add({ kind, priority, rev: rev + 1, attempt: attempt + 1, expiresAt, at: now }, id, front.at, head, record)
    jobs.addInput(id, front.inputBytes, front.input)
    ids += run === 0 ? id : `,${id}`
    run += 1
    const next = found[i + 1]
    if (next !== undefined && next.kind === kind && next.rev === rev && next.state === state) continue
    gathered.happened(rev + 1, EVENT_CODES.claimed, kind, now, ids)
    gathered.count(kind, state, -run)
    gathered.count(kind, STATE_CODES.claimed, run)
    ids = ''
    run = 0
  }
}

type Texts = readonly [head: string | null, record: string | null]

/** Reads long heads and records, which the walk over the lane left where they are until it was known whose are claimed. */
const longTexts = ({ sql }: Ledger, lane: number, { readyAt, id }: FrontCells): Texts =>
  one(sql.readyTexts, lane, readyAt, id) as Texts

/** Rows of an earlier call with this request id whose lease is still live. */
function again(ledger: Ledger, request: string, now: number): readonly JobCells[] {
  const found: JobCells[] = []
  for (const [number] of all(ledger.sql.claimByRequest, request)) {
    found.push(...all(ledger.sql.wholeOfClaim, number as number, now).map(jobIn))
  }
  return found
}

/** Repeats the answer of an earlier call: the record before the claim, and what the claim made of it. */
function repeat(ledger: Ledger, jobs: ClaimedJobs, job: JobCells): void {
  const { id, kind, priority, claimRev, attempt, claimExpiresAt, claimAt } = job
  assert(
    claimRev !== null && attempt !== null && claimExpiresAt !== null && claimAt !== null,
    'its claim made the lease',
  )
  const run = { kind, priority, rev: claimRev, attempt, expiresAt: claimExpiresAt, at: claimAt }
  jobs.add(run, id, job.at, job.head, job.before)
  jobs.addInput(id, (one(ledger.sql.inputBytes, id)?.[0] as number | null | undefined) ?? null, null)
  jobs.addKeys(all<[key: number]>(ledger.sql.keysOf, id).map(([key]) => key))
}
