/** What a fold writes, as `fold.sql` reads it, and pieces of the image as they are read. */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import { original, storable } from '../../codec/text.ts'
import type { KeyChange, Piece, PieceKind } from '../../ledger/image.ts'
import type { FoldStep } from '../../ledger/ledger-port.ts'
import type { Report, ReportedJob } from '../../ledger/report.ts'
import type { Row } from '../connection/client.ts'

const KINDS: Readonly<Record<PieceKind, string>> = { text: '0', field: '1', member: '2', score: '3', line: '4' }
const KIND_OF = Object.fromEntries(Object.entries(KINDS).map(([kind, digit]) => [digit, kind as PieceKind]))

/** What a key, or a piece in it, is known by. */
export function digestOf(name: string): string {
  return uuid(createHash('sha256').update(name).digest('hex').slice(0, DIGITS))
}

const DIGITS = 32
/** Before every piece. */
export const FIRST = uuid('0'.repeat(DIGITS))

function uuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const placeOf = ({ kind, name }: Pick<Piece, 'kind' | 'name'>): string =>
  kind === 'line' ? lineOf(Number(name)) : digestOf(name)

const lineOf = (number: number): string => uuid(number.toString(16).padStart(DIGITS, '0'))

/** The words of `fold.sql`. */
export function foldWords({ image, report }: Pick<FoldStep, 'image' | 'report'>): string {
  const words = { c: [] as string[], r: [] as object[], g: [] as object[], i: [] as object[], e: [] as object[] }
  for (const [key, change] of image) {
    const k = digestOf(key)
    if (change.isCleared) words.c.push(k)
    const { upToScore: u, fromLine, until } = change
    if (u !== undefined || fromLine !== undefined)
      words.r.push({ k, u, l: fromLine === undefined ? undefined : lineOf(fromLine) })
    if (until !== undefined) words.e.push({ k, u: until })
    piecesInto(words, k, change)
  }
  return JSON.stringify({ ...words, ...reportWords(report) })
}

function piecesInto(words: { readonly g: object[]; readonly i: object[] }, k: string, change: KeyChange): void {
  for (const [name, piece] of change.pieces) {
    if (piece !== undefined) words.i.push(pieceWords(k, piece))
    // What has gone is no line: those go by their numbers.
    else if (!change.isCleared) words.g.push({ k, n: digestOf(name) })
  }
}

function pieceWords(k: string, piece: Piece): object {
  const { kind, key, name, value, until } = piece
  const isScore = kind === 'score'
  return {
    k,
    n: placeOf(piece),
    t: KINDS[kind],
    kn: storable(key),
    nn: storable(name),
    v: isScore ? '' : storable(value),
    s: isScore ? Number(value) : undefined,
    u: until,
  }
}

const reportWords = ({ jobs, stretches, purged, rewritten, evicted, restored }: Report): object => ({
  j: jobs.map(jobWords),
  h: stretches.map(({ claimedAt, ...stretch }) => ({ ...stretch, claimed: claimedAt })),
  d: purged.map(String),
  w: [...purged, ...rewritten].map(String),
  x: [...evicted.map((id) => ({ id, out: true })), ...restored.map((id) => ({ id, out: false }))],
})

const jobWords = ({ createdAt, readyAt, leaseExpiresAt, claimedAt, endedAt, bodies, ...job }: ReportedJob): object => ({
  ...job,
  created: createdAt,
  ready: readyAt,
  expires: leaseExpiresAt,
  claimed: claimedAt,
  ended: endedAt,
  bodies: bodies === undefined ? undefined : digestOf(bodies),
})

export function pieceOf([kind, key, name, value, score, until]: Row): Piece {
  const found = KIND_OF[String(kind)]
  assert(found !== undefined, 'a piece is of a kind')
  return {
    key: original(String(key)),
    kind: found,
    name: original(String(name)),
    value: found === 'score' ? String(score) : original(String(value)),
    until: until === null ? undefined : Number(until),
  }
}
