import { original } from '../../codec/text.ts'
import { queueKey } from '../../store.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { ClaimedRow } from '../rows.ts'
import { laneOf } from './known-kinds.ts'
import type { Ledger } from './ledger.ts'
import { all, type Cell, one, type Row } from './rows.ts'

type Claim = Asked<'claim'>

/** Claims whose leases are all over are forgotten now and then. */
const FORGET_EVERY = 256

/** Is there anything to write for this claim? An idle worker's question takes no lock and costs no sync. */
export function claimable(ledger: Ledger, claim: Claim): boolean {
  const now = ledger.clock.now()
  if (again(ledger, claim.request, now).length > 0) return true
  return openLanes(ledger, claim).some((lane) => one(ledger.sql.front, lane, now) !== undefined)
}

/** Lane by lane, each from its front, until there is enough. */
export function claim(ledger: Ledger, asked: Claim): Answered<'claim'> {
  const { sql, now } = ledger
  const repeated = again(ledger, asked.request, now)
  if (repeated.length > 0) return { replayed: true, rows: withInputs(ledger, repeated.map(answered), asked) }
  const rows: ClaimedRow[] = []
  let number: number | undefined
  for (const lane of openLanes(ledger, asked)) {
    if (rows.length >= asked.limit) break
    const found = all(sql.claimable, lane, now, asked.limit - rows.length)
    const last = found.at(-1)
    if (last === undefined) continue
    number ??= one(sql.insertClaim, now, asked.request, asked.worker, asked.actor)?.[0] as number
    sql.leaseFront.run(asked.nonce, now, number, lane, last[8] as number, last[0] as number)
    sql.deleteFront.run(lane, last[8] as number, last[0] as number)
    for (const row of found) rows.push(take(ledger, row))
  }
  if (number !== undefined && number % FORGET_EVERY === 0) sql.forgetClaims.run(number)
  return { replayed: false, rows: withInputs(ledger, rows, asked) }
}

/** The lanes asked for whose queue exists and is not paused. */
function openLanes(ledger: Ledger, { lanes }: Claim): readonly number[] {
  const open: number[] = []
  for (const [tenant, queue, priority] of lanes) {
    const number = ledger.kinds.queue(tenant, queue)
    const lane = number === undefined ? undefined : laneOf(number, priority)
    if (lane !== undefined && !paused(ledger, tenant, queue)) open.push(lane)
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

function take(ledger: Ledger, row: Row): ClaimedRow {
  const [id, kind, at, priority, head, record, rev, attempt, , leaseMs, inputBytes, input, state] = row as Front
  const { now } = ledger
  ledger.kinds.tell(kind)
  ledger.gathered.happened(rev + 1, 'c', kind, now, id)
  ledger.gathered.count(kind, state, -1)
  ledger.gathered.count(kind, 'c', 1)
  // A big input is there in name only: whether there is room for it is seen when all are known.
  const text = inputBytes !== null && input === null ? LATER : input
  return [id, kind, at, priority, head, record, rev + 1, attempt + 1, now + leaseMs, now, text]
}

type Front = readonly [
  id: number,
  kind: number,
  at: number,
  priority: number,
  head: string | null,
  record: string | null,
  rev: number,
  attempt: number,
  readyAt: number,
  leaseMs: number,
  inputBytes: number | null,
  input: string | null,
  state: string,
]

const LATER = '\u0000'

/** Rows of an earlier call with this request id whose lease is still live. */
function again(ledger: Ledger, request: string, now: number): readonly Row[] {
  const found: Row[] = []
  for (const [number] of all(ledger.sql.claimByRequest, request)) {
    found.push(...all(ledger.sql.wholeOfClaim, number as number, now))
  }
  return found
}

/** What was answered then: the record before the claim, and what the claim made of it. */
function answered(row: Row): ClaimedRow {
  const [id, kind, at, priority, head] = row as readonly [number, number, number, number, string | null, ...Cell[]]
  const before = row[21] as string | null
  const [rev, expiresAt, attempt, claimedAt] = [row[11], row[14], row[15], row[22]] as Four
  return [id, kind, at, priority, head, before, rev, attempt, expiresAt, claimedAt, LATER]
}

type Four = [number, number, number, number]

/** Inputs ride along while there is room; the others are loaded when their turn comes. */
function withInputs(ledger: Ledger, rows: readonly ClaimedRow[], { maxInputBytes }: Claim): readonly ClaimedRow[] {
  let leftBytes = maxInputBytes
  return rows.map((row) => {
    const [id, kind, createdAt, priority, head, record, rev, attempt, expiresAt, at, input] = row
    ledger.kinds.tell(kind)
    if (input === null) return row
    const text = input === LATER ? ((one(ledger.sql.input, id)?.[0] as string | null) ?? null) : input
    const bytes = text === null ? 0 : Buffer.byteLength(text)
    const fits = bytes <= leftBytes
    if (fits) leftBytes -= bytes
    if (fits && input === text) return row
    return [id, kind, createdAt, priority, head, record, rev, attempt, expiresAt, at, fits ? text : null]
  })
}
