import { leaseEnd } from '../../../core/timers.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { original } from '../../codec/text.ts'
import { sideLanes } from '../../side-lanes.ts'
import { queueKey } from '../../store.ts'
import type { Answered, Asked } from '../protocol.ts'
import { ClaimedJobs } from './claimed-jobs.ts'
import { laneOf } from './known-kinds.ts'
import type { Ledger } from './ledger.ts'
import { all, type Cell, one, type Row } from './rows.ts'
import { SHORT } from './statements.ts'

type Claim = Asked<'claim'>

/** Claims whose leases are all over are forgotten now and then. */
const FORGET_EVERY = 256

/** Is there anything to write for this claim? An idle worker's question takes no lock and costs no sync. */
export function claimable(ledger: Ledger, claim: Claim): boolean {
  const now = ledger.clock.now()
  if (again(ledger, claim.request, now).length > 0) return true
  return openLanes(ledger, claim).some((lane) => one(ledger.sql.front, lane, now) !== undefined)
}

/** Lane by lane, each from its front, until there is enough, or as much as one turn may carry. */
export function claim(ledger: Ledger, asked: Claim): Answered<'claim'> {
  const { sql, now } = ledger
  const jobs = new ClaimedJobs(ledger, asked.maxInputBytes)
  const repeated = again(ledger, asked.request, now)
  if (repeated.length > 0) {
    for (const row of repeated) repeat(ledger, jobs, row)
    return { replayed: true, ...jobs.answer }
  }
  let number: number | undefined
  for (const lane of openLanes(ledger, asked)) {
    if (jobs.count >= asked.limit) break
    const front = all(sql.claimable, lane, now, asked.limit - jobs.count) as readonly (readonly unknown[])[] as Front[]
    const found = bearable(ledger, jobs.count, front)
    const last = found.at(-1)
    if (last === undefined) continue
    const whole = found.map((row) => (row[BYTES] <= SHORT ? row : withTexts(ledger, lane, row)))
    number ??= one(sql.insertClaim, now, asked.request, asked.worker, asked.actor)?.[0] as number
    sql.leaseFront.run(asked.nonce, now, number, lane, last[11], last[0])
    sql.deleteFront.run(lane, last[11], last[0])
    take(ledger, jobs, whole)
    if (found.length < front.length) break
  }
  if (number === undefined) return { replayed: false, ...jobs.answer }
  sql.tickClaim.run(jobs.firstEnd, number)
  if (number % FORGET_EVERY === 0) sql.forgetClaims.run(number)
  return { replayed: false, ...jobs.answer }
}

/** The lanes asked for whose queue exists and is not paused, each behind its side lanes. */
function openLanes(ledger: Ledger, asked: Claim): readonly number[] {
  const open: number[] = []
  const sides = new Map<number, readonly number[]>()
  for (const [tenant, queue, priority] of asked.lanes) {
    const number = ledger.kinds.queue(tenant, queue)
    if (number === undefined || paused(ledger, tenant, queue)) continue
    const beside = sides.get(number) ?? sideLanes(ledger.kinds.sides(number), asked)
    sides.set(number, beside)
    for (const each of [...beside, number]) {
      const lane = laneOf(each, priority)
      if (lane !== undefined) open.push(lane)
    }
  }
  return open
}

function paused(ledger: Ledger, tenant: string, queue: string): boolean {
  const text = one(ledger.sql.setting, 'queue', queueKey(original(tenant), original(queue)))?.[3]
  if (typeof text !== 'string') return false
  try {
    const document: unknown = JSON.parse(text)
    return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
  } catch {
    return false
  }
}

/** As many from the front as there is room for in this turn; the first always, or it would stay for ever. */
function bearable({ burden }: Ledger, taken: number, front: readonly Front[]): readonly Front[] {
  for (let i = 0; i < front.length; i += 1) {
    if (taken + i > 0 && burden.isFull) return front.slice(0, i)
    burden.take((front[i] as Front)[BYTES])
  }
  return front
}

/** Long texts were left where they are until it was known whose are wanted. */
function withTexts({ sql }: Ledger, lane: number, row: Front): Front {
  const [head, record] = one(sql.readyTexts, lane, row[11], row[0]) as readonly [string | null, string | null]
  return row.with(2, head).with(3, record) as readonly unknown[] as Front
}

/** Runs of jobs that are alike, as most are, cost the feed and the counts nothing each. */
function take(ledger: Ledger, jobs: ClaimedJobs, found: readonly Front[]): void {
  const { now, gathered } = ledger
  let ids = ''
  let run = 0
  for (const [i, row] of found.entries()) {
    const [id, at, head, record, inputBytes, input, kind, priority, rev, attempt, state, , leaseMs] = row
    jobs.add([kind, priority, rev + 1, attempt + 1, leaseEnd(now, leaseMs), now], id, at, head, record)
    jobs.addInput(id, inputBytes, input)
    ids += run === 0 ? id : `,${id}`
    run += 1
    const next = found[i + 1]
    if (next !== undefined && next[6] === kind && next[8] === rev && next[10] === state) continue
    gathered.happened(rev + 1, EVENT_CODES.claimed, kind, now, ids)
    gathered.count(kind, state, -run)
    gathered.count(kind, STATE_CODES.claimed, run)
    ids = ''
    run = 0
  }
}

type Front = readonly [
  id: number,
  at: number,
  head: string | null,
  record: string | null,
  inputBytes: number | null,
  input: string | null,
  kind: number,
  priority: number,
  rev: number,
  attempt: number,
  state: string,
  readyAt: number,
  leaseMs: number,
  /** Of head and record together. */
  bytes: number,
]

const BYTES = 13

/** Rows of an earlier call with this request id whose lease is still live. */
function again(ledger: Ledger, request: string, now: number): readonly Row[] {
  const found: Row[] = []
  for (const [number] of all(ledger.sql.claimByRequest, request)) {
    found.push(...all(ledger.sql.wholeOfClaim, number as number, now))
  }
  return found
}

/** What was answered then: the record before the claim, and what the claim made of it. */
function repeat(ledger: Ledger, jobs: ClaimedJobs, row: Row): void {
  const [id, kind, at, priority, head] = row as readonly [number, number, number, number, string | null, ...Cell[]]
  const before = row[21] as string | null
  const [rev, expiresAt, attempt, claimedAt] = [row[11], row[14], row[15], row[22]] as Four
  jobs.add([kind, priority, rev, attempt, expiresAt, claimedAt], id, at, head, before)
  jobs.addInput(id, (one(ledger.sql.inputBytes, id)?.[0] as number | null | undefined) ?? null, null)
}

type Four = [number, number, number, number]
