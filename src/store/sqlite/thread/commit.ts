import { unreachable } from '../../../core/assert.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { ChangeRow, VerdictRow } from '../rows.ts'
import { endAlike } from './end-alike.ts'
import { type Done, insertEnding, leaveEnding } from './ending.ts'
import { mayMoveKey, moveKey } from './hall/keys.ts'
import { mend } from './hall/mend.ts'
import type { Ledger } from './ledger.ts'
import { move } from './move.ts'
import { one } from './rows.ts'

export function commit(ledger: Ledger, { kinds, rows }: Asked<'commit'>): Answered<'commit'> {
  const brought = ledger.kinds.intern(kinds)
  return ledger.each(
    rows,
    (row) => change(ledger, row, brought),
    // One of the jobs that end alike cannot be kept: which one shows when each is sent by itself.
    (rule, row): VerdictRow => (row[0] === 'ends' ? 'apart' : ['rejected', rule]),
  )
}

function change(ledger: Ledger, row: ChangeRow, brought: readonly number[]): VerdictRow {
  switch (row[0]) {
    case 'move':
      return move(ledger, row, brought)
    case 'ends':
      return endAlike(ledger, row, brought)
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
    case 'key': {
      const [, tenant, next] = row
      if (!mayMoveKey(ledger, tenant, next)) return 'conflict'
      moveKey(ledger, tenant, next)
      return 'applied'
    }
    case 'mend':
      mend(ledger, row[1])
      return 'applied'
    case 'purge': {
      const [, id, rev] = row
      return purge(ledger, id, rev)
    }
    default:
      return unreachable(row)
  }
}

/** An ended job with everything that is its own. The feed keeps saying that it was there. */
function purge(ledger: Ledger, id: number, rev: number): VerdictRow {
  const { sql } = ledger
  const done = one(sql.takeDone, id, id, rev)
  if (done === undefined) return 'conflict'
  const [ending, , , kind, state] = done as Done
  leaveEnding(ledger, ending)
  ledger.gathered.count(kind, state, -1)
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
