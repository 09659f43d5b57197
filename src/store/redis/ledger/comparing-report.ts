/** The rows that reports read against the image, from which each of them was written: both are the fold's. */
import { idNumber, idText } from '../../../core/id.ts'
import { kindOf } from '../../codec/kind.ts'
import type { Finding } from '../../ledger/finding.ts'
import type { Piece } from '../../ledger/image.ts'
import type { Ledger, ReportedRow } from '../../ledger/ledger-port.ts'
import { digitsOf, idOf } from '../job/id-text.ts'
import { jobTextIn } from '../job/job-text.ts'
import type { Folding } from './folding.ts'
import { jobRow } from './reported.ts'

export interface ReportParts {
  readonly ledger: Pick<Ledger, 'rows' | 'pieces'>
  readonly folding: Pick<Folding, 'toHead'>
}

/** Rows of one question. */
const AT_ONCE = 200
const LOOKS = 3

export async function reportFindings(parts: ReportParts): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (let after = 0; ; ) {
    const rows = await parts.ledger.rows(after, AT_ONCE)
    if (rows.length === 0) return found
    found.push(...(await persistent(parts, rows)))
    after = rows.at(-1)?.id ?? after
  }
}

async function persistent(parts: ReportParts, rows: readonly ReportedRow[]): Promise<readonly Finding[]> {
  let open = await different(parts, rows)
  for (let look = 1; look < LOOKS && open.size > 0; look += 1) {
    await parts.folding.toHead()
    const again = await Promise.all([...open.keys()].map((id) => parts.ledger.rows(id - 1, 1)))
    const next = await different(
      parts,
      again.flat().filter(({ id }) => open.has(id)),
    )
    open = new Map([...next].filter(([id, what]) => open.get(id) === what))
  }
  return [...open.values()].map((what) => ({ about: 'fold', what }))
}

async function different({ ledger }: ReportParts, rows: readonly ReportedRow[]): Promise<ReadonlyMap<number, string>> {
  const keys = rows.flatMap(({ id }) => [`job:${digits(id)}`, `born:${digits(id)}`])
  const { pieces } = await ledger.pieces([...keys, 'kinds'])
  const texts = new Map(pieces.filter(({ kind }) => kind === 'text').map(({ key, value }) => [key, value]))
  const found = new Map<number, string>()
  for (const row of rows) {
    const what = differenceOf(row, texts, pieces)
    if (what !== undefined) found.set(row.id, `job ${idText(row.id)}: ${what}`)
  }
  return found
}

const digits = (id: number): string => digitsOf(idText(id))

function differenceOf(
  row: ReportedRow,
  texts: ReadonlyMap<string, string>,
  pieces: readonly Piece[],
): string | undefined {
  const id = digits(row.id)
  const [value, born] = [texts.get(`job:${id}`), texts.get(`born:${id}`)]
  if (value === undefined || born === undefined) return 'reports have it, and the image has not'
  const text = jobTextIn(value, born)
  const kind = pieces.find(({ key, name }) => key === 'kinds' && name === text.kind)
  if (kind === undefined) return `its kind ${text.kind} is not in the image`
  const expected = jobRow(idNumber(idOf(id)) ?? 0, id, text, kindOf(kind.value))
  for (const field of ['tenant', 'queue', 'type', 'state', 'generation', 'attempt', 'rev', 'priority'] as const)
    if (row[field] !== expected[field])
      return `${field} is ${JSON.stringify(row[field])} in reports, ${JSON.stringify(expected[field])} in the image`
  return row.endedAt === expected.endedAt
    ? undefined
    : `it ended at ${row.endedAt} in reports, at ${expected.endedAt} in the image`
}
