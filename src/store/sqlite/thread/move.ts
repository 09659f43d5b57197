/**
 * One change of one record: the row leaves where it was, if it is still the one that was judged, and enters where it
 * belongs now; the events since its last row in the log go with it.
 */
import { assert } from '../../../core/assert.ts'
import type { Time } from '../../../core/job.ts'
import { INLINE, type KeyRow, type MoveMore, type MoveRow, type VerdictRow } from '../rows.ts'
import { addStretch } from './add-stretch.ts'
import { insertEnding, leaveEnding } from './ending.ts'
import { Fresh } from './fresh.ts'
import { insertOne } from './insert.ts'
import type { Ledger } from './ledger.ts'
import { type Move, moveOf } from './move-row.ts'
import { hasOnlyClaim, leaseOf } from './opening.ts'
import { one } from './rows.ts'

export function move(ledger: Ledger, row: MoveRow, interned: readonly number[]): VerdictRow {
  const m = moveOf(row, (ref) => ledger.kinds.of(ref, interned))
  if (m.notAfter !== null && ledger.now >= m.notAfter) return 'late'
  if (m.more !== null) {
    // Whatever could still forbid the change is looked at before anything is touched.
    const obstacle = forbidden(ledger, m, m.more)
    if (obstacle !== undefined) return obstacle
  }
  if (m.record === null && m.from === 'lease') {
    const lease = one(ledger.sql.peekLease, m.id, m.rev)
    if (lease !== undefined && !hasOnlyClaim(lease)) return 'untold'
  }
  if (!moveRow(ledger, m)) return 'conflict'
  tell(ledger, m)
  if (m.more !== null) addMore(ledger, m.id, m.more, interned)
  return 'applied'
}

/** The feed and the counts. */
export function tell(ledger: Ledger, { id, kind, row, factsFrom, fromState, state }: Move): void {
  for (let i = factsFrom; i < row.length; i += 3) {
    ledger.gathered.happened(row[i] as number, row[i + 1] as string, kind, row[i + 2] as number, id)
  }
  if (state === fromState) return
  ledger.gathered.count(kind, fromState, -1)
  ledger.gathered.count(kind, state, 1)
}

function forbidden(ledger: Ledger, m: Move, more: MoveMore): VerdictRow | undefined {
  if (!isAt(ledger, m)) return 'conflict'
  const given = new Set(more.give.map(([purpose, key]) => JSON.stringify([purpose, key])))
  const held = (tenant: string, owner: number, [purpose, key]: KeyRow): number | undefined => {
    const holder = one(ledger.sql.holder, tenant, purpose, key, ledger.now)?.[0]
    if (typeof holder !== 'number' || holder === owner) return undefined
    return holder === m.id && tenant === more.tenant && given.has(JSON.stringify([purpose, key])) ? undefined : holder
  }
  for (const key of more.take) {
    const holder = held(more.tenant, m.id, key)
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

function isAt(ledger: Ledger, m: Move): boolean {
  const { sql } = ledger
  const { id, rev, from, fromReadyAt } = m
  const there =
    from === 'ready'
      ? one(sql.readyRev, laneBefore(ledger, m), fromReadyAt, id)
      : from === 'done'
        ? one(sql.doneRev, id, id)
        : one(from === 'lease' ? sql.leaseRev : sql.restRev, id)
  return there?.[0] === rev
}

const laneBefore = ({ kinds }: Ledger, { kind, fromPriority, more }: Move): number =>
  kinds.lane(kind, fromPriority, more?.neededBefore ?? null)

/** False: the row is not there, or not at this revision. */
function moveRow(ledger: Ledger, m: Move): boolean {
  const { sql } = ledger
  const { id, rev, kind } = m
  switch (m.from) {
    case 'lease': {
      if (m.to === 'lease') return stayOwned(ledger, m)
      const lease = one(sql.takeLease, id, rev)
      if (lease === undefined) return false
      enter(ledger, m, leaseOf(ledger, lease, kind).opening)
      return true
    }
    case 'ready':
      if (sql.takeReady.run(laneBefore(ledger, m), m.fromReadyAt, id, rev).changes === 0) return false
      break
    case 'rest':
      if (sql.takeRest.run(id, rev).changes === 0) return false
      break
    case 'done': {
      const done = one(sql.takeDone, id, id, rev)
      if (done === undefined) return false
      const ending = done[0] as number
      const [opening, log] = one(sql.ending, done[4] as string | null, ending) as readonly [string | null, string]
      addStretch(ledger, id, rev, opening, log, null)
      leaveEnding(ledger, ending)
      if (typeof done[1] === 'string') sql.putBody.run(id, 'output', done[1])
      break
    }
  }
  enter(ledger, m, null)
  return true
}

/** The same lease goes on: only the row's content changes. Another fence is another lease. */
function stayOwned(ledger: Ledger, m: Move): boolean {
  const { sql } = ledger
  const { id, rev, kind } = m
  const found = one(sql.peekLease, id, rev)
  if (found === undefined) return false
  const lease = leaseOf(ledger, found, kind)
  if (lease.fence !== m.fence) {
    one(sql.takeLease, id, rev)
    enter(ledger, m, lease.opening)
    return true
  }
  const tick = m.tick ?? m.expiresAt
  addStretch(ledger, id, m.newRev, lease.opening, m.log, m.requests)
  sql.updateLease.run(m.state, m.newRev, m.expiresAt, tick, m.careful, m.beats, m.beatId, m.code, m.record, id)
  return true
}

export function enter(ledger: Ledger, m: Move, opening: string | null): void {
  const { sql } = ledger
  const { id, kind, state, newRev, tick, code, record, log, output } = m
  if (m.to === 'done') {
    const endedAt = m.endedAt as Time
    const ending = insertEnding(ledger, state, endedAt, 1, opening, log, record)
    const inline = output !== null && output.length <= INLINE
    sql.insertDone.run(kind, state, id, newRev, endedAt, ending, code, inline ? output : null, null)
    if (output !== null && !inline) sql.putBody.run(id, 'output', output)
    return
  }
  addStretch(ledger, id, newRev, opening, log, m.requests)
  if (output !== null) sql.putBody.run(id, 'output', output)
  if (m.to === 'rest') sql.insertRest.run(id, kind, state, newRev, tick, code, record)
  else if (m.to === 'ready') {
    const { seq, generation, attempt, careful } = m
    const lane = ledger.kinds.lane(kind, m.priority, m.more?.needs ?? null)
    sql.insertReady.run(lane, m.readyAt, id, kind, state, newRev, seq, generation, attempt, careful, tick, code, record)
  } else {
    const { fence, expiresAt, careful, beats, beatId, worker, attempt, generation } = m
    const owned = [fence, expiresAt, tick ?? expiresAt, careful, beats, beatId, code, worker, attempt, generation]
    sql.insertLease.run(id, kind, state, newRev, ...owned, record)
  }
}

function addMore(ledger: Ledger, id: number, more: MoveMore, interned: readonly number[]): void {
  const { sql } = ledger
  for (const [name, text] of more.bodies) sql.putBody.run(id, name, text)
  for (const [purpose, key] of more.give) sql.giveKey.run(more.tenant, purpose, key, id)
  for (const [purpose, key, until] of more.take) sql.takeKey.run(more.tenant, purpose, key, id, until)
  for (const [correlation, rev] of more.echoes) sql.insertEcho.run(correlation, id, rev)
  if (more.spawn === null) return
  const fresh = new Fresh(sql)
  const born = insertOne(ledger, more.spawn, ledger.kinds.of(more.spawn[1], interned), fresh)
  fresh.flush()
  assert(born === 1, 'a successor was looked at before it was born')
}
