import { type EachVerdict, type EndsRow, INLINE, type MoveRow, type OwnOutputs, type VerdictRow } from '../rows.ts'
import { insertEnding } from './ending.ts'
import type { Ledger } from './ledger.ts'
import { move } from './move.ts'
import { hasOnlyClaim, leaseOf } from './opening.ts'
import { one } from './rows.ts'

/**
 * All of them in three statements, whatever their number. Where one is not as the others, each has its turn.
 */
export function endAlike(ledger: Ledger, row: EndsRow, kind: number): VerdictRow | EachVerdict {
  const [, count, ids, , rev, fence, fromState, notAfter, newRev, state, endedAt, log, output, own] = row
  const { sql, now, gathered } = ledger
  if (notAfter !== null && now >= notAfter) return 'late'
  const first = one(sql.peekLease, Number.parseInt(ids, 10), rev)
  if (first === undefined || !hasOnlyClaim(first)) return endOneByOne(ledger, row, kind)
  const [, claim, , , seq, from] = first as readonly [number, number, number, number, number, string]
  const list = `[${ids}]`
  const alike = [rev, fence, kind, fromState, claim, seq, from] as const
  if (own !== null && one(sql.leasesAlike, list, ...alike)?.[0] !== count) return endOneByOne(ledger, row, kind)
  const ending = insertEnding(ledger, state, endedAt, count, leaseOf(ledger, first, kind).opening, log, null)
  if (own !== null) endEach(ledger, row, kind, ending, own)
  else if (sql.insertDoneAlike.run(kind, state, newRev, endedAt, ending, output, list, ...alike).changes !== count) {
    sql.undoDoneAlike.run(kind, state, list, ending)
    sql.deleteEnding.run(ending)
    return endOneByOne(ledger, row, kind)
  }
  sql.deleteLeases.run(list)
  for (let i = FACTS_FROM; i < row.length; i += 3) {
    gathered.happened(row[i] as number, row[i + 1] as string, kind, row[i + 2] as number, ids)
  }
  gathered.count(kind, fromState, -count)
  gathered.count(kind, state, count)
  return 'applied'
}

const FACTS_FROM = 14

function endEach({ sql }: Ledger, row: EndsRow, kind: number, ending: number, { outputs, sizes }: OwnOutputs): void {
  const [, , ids, , , , , , newRev, state, endedAt] = row
  for (const [i, text] of ids.split(',').entries()) {
    const id = Number(text)
    const output = outputs[i] ?? null
    const inline = output !== null && output.length <= INLINE
    const size = sizes[i] ?? null
    sql.insertDone.run(kind, state, id, newRev, endedAt, ending, null, inline ? output : null, size)
    if (output !== null && !inline) sql.putBody.run(id, 'output', output)
  }
}

/** Each on its own: the one that cannot be kept is rejected, and no other. */
export function endOneByOne(ledger: Ledger, row: EndsRow, kind: number): EachVerdict {
  const [, , ids, , rev, , fromState, notAfter, newRev, state, endedAt, log, output, own, ...facts] = row
  const each = ids.split(',').map((id, i) => {
    const from = ['lease', fromState, 0, null, notAfter] as const
    const nothing = [0, 0, 0, 0, null, null, 0, null, endedAt, null, null, 0, null, null, null] as const
    const size = own?.sizes[i] ?? null
    const ownLog = size === null ? log : log.replace('["output",0]', `["output",${size}]`)
    const ownOutput = own === null ? output : (own.outputs[i] ?? null)
    const to = ['done', null, ownLog, ownOutput, null, state, newRev, ...nothing] as const
    const one: MoveRow = ['move', Number(id), rev, kind, ...from, ...to, ...facts]
    const [verdict] = ledger.each<MoveRow, VerdictRow>(
      [one],
      () => move(ledger, one, []),
      (rule) => ['rejected', rule],
    )
    return verdict as VerdictRow
  })
  return { each }
}
