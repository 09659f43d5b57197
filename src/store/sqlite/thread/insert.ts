import { EVENT_CODES } from '../../codec/codes.ts'
import type { Answered, Asked } from '../protocol.ts'
import { type InsertedRow, type InsertRow, type KeyRow, newJobIn } from '../rows.ts'
import { Fresh } from './fresh.ts'
import { flowNumber } from './hall/flows.ts'
import { bearKeys } from './hall/keys.ts'
import { heldLane } from './hall/lanes.ts'
import type { Ledger } from './ledger.ts'
import { one } from './rows.ts'
import { sumOf } from './sum.ts'

export function insert(ledger: Ledger, { kinds, rows, together }: Asked<'insert'>): Answered<'insert'> {
  const brought = ledger.kinds.intern(kinds)
  const fresh = new Fresh(ledger.sql)
  const each = () =>
    ledger.each(
      rows,
      (row) => insertOne(ledger, row, ledger.kinds.of(newJobIn(row).kind, brought), fresh),
      (rule): InsertedRow => ['rejected', rule],
      fresh,
    )
  return together ? allOrNone(ledger, each) : each()
}

/** Inserts all items or, where one is not inserted, none: then rolls back and answers what each would have come to. */
function allOrNone(ledger: Ledger, each: () => Answered<'insert'>): Answered<'insert'> {
  let answers: Answered<'insert'> = []
  const undone = new Error('undone')
  try {
    return ledger.atomically(() => {
      answers = each()
      if (answers.some((answer) => answer !== 1)) throw undone
      return answers
    })
  } catch (error) {
    if (error !== undone) throw error
    return answers
  }
}

/** A new job, or the one that was first with its id, its alias or one of its keys. Its lane is entered by `fresh`. */
export function insertOne(ledger: Ledger, row: InsertRow, kind: number, fresh: Fresh): InsertedRow {
  const { id, at, priority, correlation, head, input, state, readyAt, tick, judge, more } = newJobIn(row)
  const { sql } = ledger
  if (more !== null) {
    const first = somebodyFirst(ledger, id, more.tenant, more.keys)
    if (first !== undefined) return first
  }
  if (sql.insertJob.run(id, kind, at, priority, correlation, head, sumOf(input), input).changes === 0) {
    return ['exists', 'id', id]
  }
  if (more !== null && more.flow !== null) bearKeys(ledger, more.tenant, more.flow.births)
  if (readyAt === null) sql.insertRest.run(id, kind, state, 1, tick, judge, null, null)
  else {
    const careful = more?.careful === true ? 1 : 0
    fresh.add(id, [firstLane(ledger, row, kind), readyAt, kind, state, tick, careful])
  }
  if (more !== null) {
    for (const [purpose, key, until] of more.keys) sql.takeKey.run(more.tenant, purpose, key, id, until)
    for (const mark of more.marks) sql.insertMark.run(mark, id)
  }
  ledger.gathered.happened(1, EVENT_CODES.enqueued, kind, at, id)
  ledger.gathered.count(kind, state, 1)
  return 1
}

/** A job with a flow is born held. */
function firstLane(ledger: Ledger, row: InsertRow, kind: number): number {
  const { priority, more } = newJobIn(row)
  if (more === null || more.flow === null) return ledger.kinds.lane(kind, priority, more?.needs ?? null)
  const flow = flowNumber(ledger, more.flow.flow, {
    tenant: more.tenant,
    kind,
    priority,
    needs: more.needs,
    sentTo: null,
  })
  ledger.usher.arrive(flow)
  return heldLane(flow)
}

function somebodyFirst(ledger: Ledger, id: number, tenant: string, keys: readonly KeyRow[]): InsertedRow | undefined {
  if (one(ledger.sql.jobExists, id) !== undefined) return ['exists', 'id', id]
  for (const [purpose, key] of keys) {
    const holder = one(ledger.sql.holder, tenant, purpose, key, ledger.now)?.[0]
    if (typeof holder === 'number') return ['exists', purpose, holder]
  }
  return undefined
}
