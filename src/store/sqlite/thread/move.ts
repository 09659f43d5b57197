/**
 * One change of one record: the row leaves where it was, if it is still the one that was judged, and enters where it
 * belongs now; the events since its last row in the log go with it.
 */
import { assert } from '../../../core/assert.ts'
import type { AfterRow, KeyRow, MoveMore, MoveRow, Opening, OpeningClaim, VerdictRow } from '../protocol.ts'
import { insertOne } from './insert.ts'
import { type Ledger, one, type Row } from './ledger.ts'

export function move(ledger: Ledger, row: MoveRow, interned: readonly number[]): VerdictRow {
  const [id, rev, kindRef, , fromState, , , notAfter, , after, , , facts, , more] = row
  const kind = ledger.kindOf(kindRef, interned)
  if (notAfter !== null && ledger.now >= notAfter) return 'late'
  if (more !== null) {
    // Whatever could still forbid the change is looked at before anything is touched.
    const obstacle = forbidden(ledger, row, kind, more)
    if (obstacle !== undefined) return obstacle
  }
  if (!moveRow(ledger, row, kind)) return 'conflict'
  for (let i = 0; i < facts.length; i += 3) {
    ledger.happened(facts[i] as number, facts[i + 1] as string, kind, facts[i + 2] as number, id)
  }
  const [state] = after
  if (state !== fromState) {
    ledger.count(kind, fromState, -1)
    ledger.count(kind, state, 1)
  }
  if (more !== null) addMore(ledger, id, more, interned)
  assert(after[1] > rev, 'a move has a new revision')
  return 'applied'
}

function forbidden(ledger: Ledger, row: MoveRow, kind: number, more: MoveMore): VerdictRow | undefined {
  const [id] = row
  if (!isAt(ledger, row, kind)) return 'conflict'
  const given = new Set(more.give.map(([purpose, key]) => JSON.stringify([purpose, key])))
  const held = (tenant: string, owner: number, wanted: KeyRow): number | undefined => {
    const [purpose, key] = wanted
    const holder = one(ledger.sql.holder, tenant, purpose, key, ledger.now)?.[0]
    if (typeof holder !== 'number' || holder === owner) return undefined
    return holder === id && tenant === more.tenant && given.has(JSON.stringify([purpose, key])) ? undefined : holder
  }
  for (const key of more.take) {
    const holder = held(more.tenant, id, key)
    if (holder !== undefined) return ['taken', ...key, holder]
  }
  if (more.spawn === null) return undefined
  const [spawnId] = more.spawn
  if (one(ledger.sql.jobExists, spawnId) !== undefined) return 'conflict'
  for (const key of more.spawn[10]?.keys ?? []) {
    const holder = held(more.spawnTenant, spawnId, key)
    if (holder !== undefined) return key[0] === 'alias' ? 'conflict' : ['taken', ...key, holder]
  }
  return undefined
}

function isAt(ledger: Ledger, row: MoveRow, kind: number): boolean {
  const { sql } = ledger
  const [id, rev, , from, , priority, readyAt] = row
  const there =
    from === 'ready'
      ? one(sql.readyRev, ledger.lane(kind, priority), readyAt, id)
      : one(from === 'lease' ? sql.leaseRev : from === 'rest' ? sql.restRev : sql.doneRev, id)
  return there?.[0] === rev
}

/** False: the row is not there, or not at this revision. */
function moveRow(ledger: Ledger, row: MoveRow, kind: number): boolean {
  const { sql } = ledger
  const [id, rev, , from, , priority, readyAt, , to, , , log] = row
  switch (from) {
    case 'lease': {
      if (to === 'lease') return stayOwned(ledger, row, kind)
      const lease = one(sql.takeLease, id, rev)
      if (lease === undefined) return false
      enter(ledger, row, kind, opening(ledger, lease, kind, id))
      return true
    }
    case 'ready':
      if (sql.takeReady.run(ledger.lane(kind, priority), readyAt, id, rev).changes === 0) return false
      break
    case 'rest':
      if (sql.takeRest.run(id, rev).changes === 0) return false
      break
    case 'done': {
      const done = one(sql.takeDone, id, rev)
      if (done === undefined) return false
      sql.insertPast.run(id, rev, done[0] as string | null, done[1] as string)
      if (typeof done[2] === 'string') sql.putBody.run(id, 'output', done[2])
      break
    }
  }
  assert(log.length > 0, 'a move has events')
  enter(ledger, row, kind, null)
  return true
}

/** The same lease goes on: only the row's content changes. Another fence is another lease. */
function stayOwned(ledger: Ledger, row: MoveRow, kind: number): boolean {
  const { sql } = ledger
  const [id, rev, , , , , , , , after, record, log] = row
  const lease = one(sql.peekLease, id, rev)
  if (lease === undefined) return false
  const [state, newRev, , , , , , tick, careful, code, , fence, expiresAt, beats, beatId] = after
  if (lease[8] !== fence) {
    one(sql.takeLease, id, rev)
    enter(ledger, row, kind, opening(ledger, lease, kind, id))
    return true
  }
  sql.insertPast.run(id, newRev, opening(ledger, lease, kind, id), log)
  sql.updateLease.run(state, newRev, expiresAt, tick ?? expiresAt, careful, beats, beatId, code, record, id)
  return true
}

function enter(ledger: Ledger, row: MoveRow, kind: number, opened: string | null): void {
  const { sql } = ledger
  const [id, , , , , , , , to, after, record, log, , output] = row
  const [state, rev, seq, generation, attempt, priority, readyAt, tick, careful, code, endedAt] = after
  if (to === 'done') {
    sql.insertDone.run(id, kind, state, rev, endedAt, code, opened, log, record, output)
    return
  }
  sql.insertPast.run(id, rev, opened, log)
  if (output !== null) sql.putBody.run(id, 'output', output)
  if (to === 'ready') {
    const lane = ledger.lane(kind, priority)
    sql.insertReady.run(lane, readyAt, id, kind, state, rev, seq, generation, attempt, careful, tick, code, record)
  } else if (to === 'rest') sql.insertRest.run(id, kind, state, rev, tick, code, record)
  else enterLease(ledger, id, kind, after, record)
}

function enterLease({ sql }: Ledger, id: number, kind: number, after: AfterRow, record: string): void {
  const [state, rev, , generation, attempt, , , tick, careful, code, , fence, expiresAt, beats, beatId] = after
  assert(fence !== null && expiresAt !== null, 'an owned job has a lease')
  sql.insertLease.run(
    id,
    kind,
    state,
    rev,
    fence,
    expiresAt,
    tick ?? expiresAt,
    careful,
    beats,
    beatId,
    code,
    attempt,
    generation,
    record,
  )
}

/** What the lease knows and the log does not yet: the claim itself, and a run of heartbeats. */
function opening(ledger: Ledger, lease: Row, kind: number, id: number): string | null {
  const [claim, logged, , , , , generation, attempt, fence, beats, from, to, beatId, expiresAt, state, rev] = lease
  const claimed = claim === null || logged === 1 ? null : openingClaim(ledger, lease)
  if (beats === 0) return claimed === null ? null : JSON.stringify([claimed, null])
  ledger.happened(rev as number, 'h', kind, to as number, id)
  const run = [rev, state, beats, from, to, expiresAt, beatId, generation, attempt, fence]
  return JSON.stringify([claimed, run as readonly unknown[] as Opening[1]])
}

function openingClaim(ledger: Ledger, lease: Row): OpeningClaim {
  const [claim, , rev, seq, from, expiresAt, generation, attempt, fence] = lease as readonly [
    number,
    number,
    number,
    number,
    string,
    number,
    number,
    number,
    string,
    ...Row,
  ]
  const { at, request, worker, actor } = ledger.claimWords(claim)
  return [rev, seq, from, at, expiresAt, generation, attempt, fence, worker, request, actor]
}

function addMore(ledger: Ledger, id: number, more: MoveMore, interned: readonly number[]): void {
  const { sql } = ledger
  for (const [name, text] of more.bodies) sql.putBody.run(id, name, text)
  for (const [purpose, key] of more.give) sql.giveKey.run(more.tenant, purpose, key, id)
  for (const [purpose, key, until] of more.take) sql.takeKey.run(more.tenant, purpose, key, id, until)
  for (const [correlation, rev] of more.echoes) sql.insertEcho.run(correlation, id, rev)
  if (more.spawn === null) return
  const born = insertOne(ledger, more.spawn, ledger.kindOf(more.spawn[1], interned))
  assert(born === 1, 'a successor was looked at before it was born')
}
