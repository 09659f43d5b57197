/**
 * One change of one record: the row leaves where it was, if it is still the one that was judged, and enters where it
 * belongs now; the events since its last row in the log go with it.
 */
import { assert } from '../../../core/assert.ts'
import type { Time } from '../../../core/job.ts'
import {
  INLINE,
  type KeyRow,
  MOVE_FACTS_FROM,
  type MoveCells,
  type MoveMore,
  type MoveRow,
  moveIn,
  newJobIn,
  type VerdictRow,
} from '../rows.ts'
import { addStretch } from './add-stretch.ts'
import { type Done, insertEnding, leaveEnding } from './ending.ts'
import { Fresh } from './fresh.ts'
import { bearKeys, mayMoveKey } from './hall/keys.ts'
import { isLetIn } from './hall/lanes.ts'
import { flowAfter, keepHall, type Moved, type Spot, spotAfter, spotInHall } from './hall/moved.ts'
import { insertOne } from './insert.ts'
import { hasOnlyClaim, leaseIn, openingOf } from './lease.ts'
import type { Ledger } from './ledger.ts'
import { one } from './rows.ts'

/** Without its kind: the row may name that by its place in the call, so its number goes beside it. */
type Cells = Omit<MoveCells, 'kind'>

export function move(ledger: Ledger, row: MoveRow, brought: readonly number[]): VerdictRow {
  const m = moveIn(row)
  const kind = ledger.kinds.of(m.kind, brought)
  if (m.notAfter !== null && ledger.now >= m.notAfter) return 'late'
  if (m.more !== null) {
    // Whatever could still forbid the change is looked at before anything is touched.
    const obstacle = forbidden(ledger, m, kind, m.more)
    if (obstacle !== undefined) return obstacle
  }
  const from = spotBefore(ledger, m, kind)
  const verdict = moveRow(ledger, m, kind, from)
  if (verdict !== 'applied') return verdict
  ledger.gathered.happenedAll(row, MOVE_FACTS_FROM, kind, m.id)
  if (m.state !== m.fromState) {
    ledger.gathered.count(kind, m.fromState, -1)
    ledger.gathered.count(kind, m.state, 1)
  }
  if (m.more !== null) addMore(ledger, m.id, m.more, brought)
  const moved = movedOf(m, kind)
  if (moved !== undefined) bearKeys(ledger, moved.more.tenant, moved.flow.births)
  if (moved !== undefined) keepHall(ledger, moved, from)
  return 'applied'
}

function forbidden(ledger: Ledger, m: Cells, kind: number, more: MoveMore): VerdictRow | undefined {
  if (!isAt(ledger, m, kind)) return 'conflict'
  const flowKey = more.flow?.key ?? null
  if (flowKey !== null && !mayMoveKey(ledger, more.tenant, flowKey)) return 'conflict'
  const released = new Set(more.give.map(([purpose, key]) => JSON.stringify([purpose, key])))
  const held = (tenant: string, owner: number, [purpose, key]: KeyRow): number | undefined => {
    const holder = one(ledger.sql.holder, tenant, purpose, key, ledger.now)?.[0]
    if (typeof holder !== 'number' || holder === owner) return undefined
    return holder === m.id && tenant === more.tenant && released.has(JSON.stringify([purpose, key]))
      ? undefined
      : holder
  }
  for (const key of more.take) {
    const holder = held(more.tenant, m.id, key)
    if (holder !== undefined) return ['taken', ...key, holder]
  }
  if (more.spawn === null) return undefined
  const { id: spawnId, more: spawned } = newJobIn(more.spawn)
  if (one(ledger.sql.jobExists, spawnId) !== undefined) return 'conflict'
  for (const key of spawned?.keys ?? []) {
    const holder = held(more.spawnTenant, spawnId, key)
    if (holder !== undefined) return key[0] === 'alias' ? 'conflict' : ['taken', ...key, holder]
  }
  return undefined
}

function isAt(ledger: Ledger, m: Cells, kind: number): boolean {
  const { sql } = ledger
  const { id, rev, from } = m
  const spot = spotBefore(ledger, m, kind)
  const there =
    from === 'ready'
      ? spot && one(sql.readyRev, spot.lane, spot.readyAt, id)
      : from === 'done'
        ? one(sql.doneRev, id, id)
        : one(from === 'lease' ? sql.leaseRev : sql.restRev, id)
  return there?.[0] === rev
}

/** Where its row is, if that is in a lane. */
function spotBefore(ledger: Ledger, m: Cells, kind: number): Spot | undefined {
  if (m.from !== 'ready') return undefined
  const moved = movedOf(m, kind)
  if (moved !== undefined) return spotInHall(ledger, moved)
  const { neededBefore = null, queueBefore = null } = m.more ?? {}
  return { lane: ledger.kinds.lane(kind, m.fromPriority, neededBefore, queueBefore), readyAt: m.fromReadyAt as Time }
}

/** Undefined: the job has no flow. */
function movedOf(m: Cells, kind: number): Moved | undefined {
  const { more } = m
  return more === null || more.flow === null ? undefined : { m, kind, more, flow: more.flow }
}

/** Moves the row from its table, if it is there at this revision, into the one it belongs to; `from`: where, if it is in a lane. */
function moveRow(ledger: Ledger, m: Cells, kind: number, from: Spot | undefined): VerdictRow {
  const { sql } = ledger
  const { id, rev } = m
  switch (m.from) {
    case 'lease':
      return moveOwned(ledger, m, kind)
    case 'ready':
      if (from === undefined || sql.takeReady.run(from.lane, from.readyAt, id, rev).changes === 0) return 'conflict'
      break
    case 'rest':
      if (sql.takeRest.run(id, rev).changes === 0) return 'conflict'
      break
    case 'done': {
      const done = one(sql.takeDone, id, id, rev)
      if (done === undefined) return 'conflict'
      const [ending, output, own] = done as Done
      const [opening, log] = one(sql.ending, ending) as readonly [string | null, string]
      addStretch(ledger, id, rev, opening, own ?? log, null)
      leaveEnding(ledger, ending)
      if (output !== null) sql.putBody.run(id, 'output', output)
      break
    }
  }
  enter(ledger, m, kind, null, from)
  return 'applied'
}

/** The same lease may go on: then only the row's content changes. Another fence is another lease. */
function moveOwned(ledger: Ledger, m: Cells, kind: number): VerdictRow {
  const { sql } = ledger
  const { id, rev, newRev } = m
  const found = one(sql.leaseAt, id, rev)
  if (found === undefined) return 'conflict'
  const lease = leaseIn(found)
  if (m.record === null && !hasOnlyClaim(lease)) return 'apart'
  const opening = openingOf(ledger, lease, kind)
  if (m.to === 'lease' && lease.fence === m.fence) {
    const tick = m.tick ?? m.expiresAt
    addStretch(ledger, id, newRev, opening, m.log, m.requests)
    sql.updateLease.run(m.state, newRev, m.expiresAt, tick, m.careful, m.beats, m.beatId, m.code, m.record, id)
    return 'applied'
  }
  // Read before, then removed: in one, as `DELETE … RETURNING`, it cost 2.7 µs more.
  sql.deleteLease.run(id)
  enter(ledger, m, kind, opening, undefined)
  return 'applied'
}

function enter(ledger: Ledger, m: Cells, kind: number, opening: string | null, from: Spot | undefined): void {
  const { sql } = ledger
  const { id, state, newRev, tick, code, record, log, output } = m
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
  if (m.to === 'rest') sql.insertRest.run(id, kind, state, newRev, tick, m.judge, code, record)
  else if (m.to === 'ready') enterLane(ledger, m, kind, from)
  else {
    const { fence, expiresAt, careful, beats, beatId, worker, attempt, generation } = m
    const owned = [fence, expiresAt, tick ?? expiresAt, careful, beats, beatId, code, worker, attempt, generation]
    sql.insertLease.run(id, kind, state, newRev, ...owned, record)
  }
}

function enterLane(ledger: Ledger, m: Cells, kind: number, from: Spot | undefined): void {
  const { sql, kinds } = ledger
  const { id, state, newRev, seq, generation, attempt, careful, tick, code, record } = m
  const moved = movedOf(m, kind)
  const { lane, readyAt } =
    moved === undefined
      ? { lane: kinds.lane(kind, m.priority, m.more?.needs ?? null, m.more?.queue ?? null), readyAt: m.readyAt }
      : spotAfter(ledger, moved, from)
  sql.insertReady.run(lane, readyAt, id, kind, state, newRev, seq, generation, attempt, careful, tick, code, record)
  // It goes on standing.
  if (moved !== undefined && isLetIn(lane))
    sql.letIn.run(lane, readyAt, flowAfter(ledger, moved), m.readyAt, lane, readyAt, id)
}

function addMore(ledger: Ledger, id: number, more: MoveMore, brought: readonly number[]): void {
  const { sql } = ledger
  for (const [name, text] of more.bodies) sql.putBody.run(id, name, text)
  if (more.strips) {
    sql.deleteBodies.run(id)
    sql.stripJob.run(id)
  }
  for (const [purpose, key] of more.give) sql.giveKey.run(more.tenant, purpose, key, id)
  for (const [purpose, key, until] of more.take) sql.takeKey.run(more.tenant, purpose, key, id, until)
  for (const mark of more.marks) sql.insertMark.run(mark, id)
  for (const [correlation, rev] of more.echoes) sql.insertEcho.run(correlation, id, rev)
  if (more.spawn === null) return
  const fresh = new Fresh(sql)
  const born = insertOne(ledger, more.spawn, ledger.kinds.of(newJobIn(more.spawn).kind, brought), fresh)
  fresh.flush()
  assert(born === 1, 'a successor was looked at before it was born')
}
