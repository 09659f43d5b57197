/**
 * Holds against each other what the server has, the ledger's log, and what that is folded into. Others go on writing meanwhile: a piece
 * that they have just moved is another at the next look, so only what was found the same in several looks, each folded to the head
 * before, is told.
 */
import type { Finding } from '../../ledger/finding.ts'
import type { Piece } from '../../ledger/image.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'
import type { Server } from '../connection/backing.ts'
import { list, type Reply, word, words } from '../connection/reply.ts'
import { portions } from '../script/portions.ts'
import { chainFindings } from './comparing-log.ts'
import { reportFindings } from './comparing-report.ts'
import type { Folding } from './folding.ts'
import type { ServerLog } from './server-log.ts'

export interface ComparingParts {
  readonly server: Server
  readonly ledger: Ledger
  readonly log: ServerLog
  readonly folding: Pick<Folding, 'toHead'>
}

/** Of the server's own: what says where it is, whose turn it is, and its log. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['meta', 'entries', 'turn', 'folds', 'evicts'])
/** What is due, or waits to be judged, is handed out by putting it off, and no entry says so. */
const PUT_OFF: ReadonlySet<string> = new Set(['tick', 'judge'])
const LOOKS = 3
/** Pieces of one call, and keys that the server is asked to look at. */
const AT_ONCE = 500
const SCANNED = 1_000

/** `told`: how many pieces were compared so far. */
export async function compared(parts: ComparingParts, told: (pieces: number) => void): Promise<readonly Finding[]> {
  await parts.folding.toHead()
  const found = [...(await chainFindings(parts)), ...(await missingHot(parts, told))]
  return [...found, ...(await unknownHot(parts)), ...(await reportFindings(parts))]
}

/** What the image has and the server has not, or otherwise. */
async function missingHot(parts: ComparingParts, told: (pieces: number) => void): Promise<readonly Finding[]> {
  const found: Finding[] = []
  let count = 0
  for (let cursor: string | undefined; ; ) {
    const page = await parts.ledger.imageAfter(cursor)
    for (const some of portions(page.pieces, () => 0, AT_ONCE)) {
      found.push(...(await persistent(parts, some)))
      count += some.length
      told(count)
    }
    cursor = page.cursor
    if (cursor === undefined) return found
  }
}

/** Those that are the same in each look; a piece that the image has not any more is none. */
async function persistent(parts: ComparingParts, pieces: readonly Piece[]): Promise<readonly Finding[]> {
  let open = await different(parts, pieces)
  for (let look = 1; look < LOOKS && open.size > 0; look += 1) {
    await parts.folding.toHead()
    const keys = [...new Set([...open.values()].map(({ piece }) => piece.key))]
    const named = new Set(open.keys())
    const again = (await parts.ledger.pieces(keys)).pieces.filter((piece) => named.has(nameOf(piece)))
    const next = await different(parts, again)
    open = new Map([...next].filter(([name, { what }]) => open.get(name)?.what === what))
  }
  return [...open.values()].map(({ what }) => ({ about: 'hot', what }))
}

interface Difference {
  readonly piece: Piece
  readonly what: string
}

const nameOf = ({ key, name }: Piece): string => `${key}\n${name}`

async function different(
  { server }: ComparingParts,
  pieces: readonly Piece[],
): Promise<ReadonlyMap<string, Difference>> {
  const found = new Map<string, Difference>()
  const held = list(
    await server.run(
      'held',
      pieces.flatMap(({ kind, key, name }) => [kind, key, name]),
    ),
  )
  for (const [i, piece] of pieces.entries()) {
    const what = differenceOf(piece, held[i] ?? null)
    if (what !== undefined) found.set(nameOf(piece), { piece, what })
  }
  return found
}

function differenceOf(piece: Piece, held: Reply): string | undefined {
  const { key, kind, name, value, until } = piece
  if (OF_THE_SERVER.has(key)) return undefined
  const where = name === '' ? key : `${key}, ${name}`
  // What has an end may have come to it.
  if (held === null) return until === undefined ? `${where}: the ledger has it, Redis has not` : undefined
  if (kind === 'member' || PUT_OFF.has(key)) return undefined
  const isSame = kind === 'score' ? Number(word(held)) === Number(value) : sameText(kind, word(held), value)
  return isSame ? undefined : `${where}: Redis has ${shown(word(held))}, the ledger has ${shown(value)}`
}

const sameText = (kind: Piece['kind'], held: string, value: string): boolean =>
  held === value || (kind === 'line' && JSON.stringify(JSON.parse(held)) === JSON.stringify(JSON.parse(value)))

const SHOWN = 80
const shown = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

/** Keys that the server has and the image has not, and keys that have more in the server. Found by a scan, a page at a time. */
async function unknownHot(parts: ComparingParts): Promise<readonly Finding[]> {
  const { server } = parts
  const base = server.meta.slice(0, -'meta'.length)
  const found: Finding[] = []
  for (let cursor = '0'; ; ) {
    const match = `${base.replaceAll(/[*?[\]\\^]/g, '\\$&')}*`
    const [next, keys] = list(await server.send(['SCAN', cursor, 'MATCH', match, 'COUNT', String(SCANNED)]))
    const named = words(keys).map((key) => key.slice(base.length))
    const own = [...new Set(named)].filter((key) => !OF_THE_SERVER.has(key))
    for (const some of portions(own, () => 0, AT_ONCE)) found.push(...(await surplus(parts, some)))
    cursor = word(next)
    if (cursor === '0') return found
  }
}

async function surplus(parts: ComparingParts, keys: readonly string[]): Promise<readonly Finding[]> {
  let open: ReadonlyMap<string, string> = new Map(keys.map((key) => [key, '']))
  for (let look = 0; look < LOOKS && open.size > 0; look += 1) {
    const before = open
    const names = [...open.keys()]
    await parts.folding.toHead()
    const counts = await parts.ledger.sizes(names)
    const sizes = list(await parts.server.run('sizes', names)).map(Number)
    const next = names.flatMap((key, i): [string, string][] => {
      const [hot = 0, kept = 0] = [sizes[i], counts.get(key)]
      const what = `${key}: Redis has ${hot} of it, the ledger has ${kept}`
      return hot > kept && (look === 0 || before.get(key) === what) ? [[key, what]] : []
    })
    open = new Map(next)
  }
  return [...open.values()].map((what) => ({ about: 'hot', what }))
}
