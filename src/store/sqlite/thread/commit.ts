import { unreachable } from '../../../core/assert.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { ChangeRow, EachVerdict, VerdictRow } from '../rows.ts'
import { endAlike } from './end-alike.ts'
import { insertEnding, leaveEnding } from './ending.ts'
import { finish } from './finish.ts'
import type { Ledger } from './ledger.ts'
import { move } from './move.ts'
import { isUnkeepable } from './result-codes.ts'
import { one } from './rows.ts'

export function commit(ledger: Ledger, { kinds, rows }: Asked<'commit'>): Answered<'commit'> {
  const interned = ledger.kinds.intern(kinds)
  const finished = together(ledger, rows, interned)
  return ledger.each(
    rows,
    (row, i): VerdictRow | EachVerdict => finished[i] ?? change(ledger, row, interned),
    (rule): VerdictRow => ['rejected', rule],
  )
}

/** Where one of them cannot be kept, none is written here: each has its turn. */
function together(ledger: Ledger, rows: readonly ChangeRow[], interned: readonly number[]): ReturnType<typeof finish> {
  try {
    return ledger.atomically(() => finish(ledger, rows, interned))
  } catch (error) {
    if (!isUnkeepable(error)) throw error
    return []
  }
}

function change(ledger: Ledger, row: ChangeRow, interned: readonly number[]): VerdictRow | EachVerdict {
  switch (row[0]) {
    case 'move':
      return move(ledger, row, interned)
    case 'ends':
      return endAlike(ledger, row, ledger.kinds.of(row[3], interned))
    case 'annotate': {
      const [, id, generation, attempt, command, text] = row
      if (one(ledger.sql.jobExists, id) === undefined) return 'conflict'
      ledger.sql.annotate.run(id, generation, attempt, command, text)
      return 'applied'
    }
    case 'compact': {
      const [, id, rev, was, log, record] = row
      const ending = one(ledger.sql.endingOfDone, id, id, rev, was)
      if (ending === undefined) return 'conflict'
      const [old, state, endedAt] = ending as readonly [number, string, number]
      leaveEnding(ledger, old)
      ledger.sql.moveEnding.run(insertEnding(ledger, state, endedAt, 1, null, log, record), id, id)
      ledger.sql.deletePast.run(id)
      ledger.sql.deleteAsked.run(id)
      return 'applied'
    }
    case 'purge':
      return purge(ledger, row[1], row[2])
    default:
      return unreachable(row)
  }
}

/** An ended job with everything that is its own. The feed keeps saying that it was there. */
function purge(ledger: Ledger, id: number, rev: number): VerdictRow {
  const { sql } = ledger
  const done = one(sql.takeDone, id, id, rev)
  if (done === undefined) return 'conflict'
  leaveEnding(ledger, done[0] as number)
  ledger.gathered.count(done[2] as number, done[3] as string, -1)
  for (const remove of [
    sql.deletePast,
    sql.deleteAsked,
    sql.deleteBodies,
    sql.deleteKeys,
    sql.deleteMarks,
    sql.deleteEchoes,
    sql.deleteAnnotations,
    sql.deleteJob,
  ]) {
    remove.run(id)
  }
  sql.countPurged.run()
  return 'applied'
}
