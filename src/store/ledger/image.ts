/**
 * The image: the keys of a server as they were when the last folded entry was written, in pieces, from which a server is loaded. What a
 * stretch of the log makes of it is told per key, with all that came to nothing in between left out: a job that was born and ended
 * within one fold is written once.
 */
import { assert } from '../../core/assert.ts'

/** A command as an entry has it: keys are named without what the names of all begin with. */
export type Command = readonly string[]

/** `text`: the one piece of a key. `field`: of a hash. `member`: of a set. `score`: of a sorted set. `line`: of a stream. */
export type PieceKind = 'text' | 'field' | 'member' | 'score' | 'line'

export interface Piece {
  readonly key: string
  readonly kind: PieceKind
  /** Field, member, or the number of a line; empty of a text. */
  readonly name: string
  /** Of a line: its words, as JSON. Of a member: nothing. */
  readonly value: string
  /** When the key is over; of texts only, no others have an end. */
  readonly until: number | undefined
}

/** What became of one key. */
export interface KeyChange {
  /** All that was there before is gone. */
  isCleared: boolean
  /** Pieces by their name; undefined: gone. */
  readonly pieces: Map<string, Piece | undefined>
  /** Of what was there before: sorted members up to this score are gone. */
  upToScore: number | undefined
  /** Of what was there before: lines before this one are gone. */
  fromLine: number | undefined
  /** Of a text that was there before. */
  until: number | undefined
}

export type ImageChange = ReadonlyMap<string, KeyChange>

/** Entries one after the other, each by its commands. */
export function imageChange(entries: Iterable<readonly Command[]>): ImageChange {
  const changes = new Map<string, KeyChange>()
  for (const commands of entries) for (const command of commands) applyTo(changes, command)
  return changes
}

function applyTo(changes: Map<string, KeyChange>, [command = '', ...words]: Command): void {
  const [key = '', ...rest] = words
  switch (command) {
    case 'MSET':
      for (const [name, value] of pairsIn(words)) putText(changeOf(changes, name), name, value, undefined)
      return
    case 'UNLINK':
      for (const name of words) clear(changeOf(changes, name))
      return
    // It has left the server; here it stays.
    case 'EVICT':
      return
    case 'SET':
      assert(rest.length === 1 || (rest.length === 3 && rest[1] === 'PXAT'), 'a text is set for good, or until a time')
      return putText(changeOf(changes, key), key, rest[0] ?? '', rest[2] === undefined ? undefined : Number(rest[2]))
    case 'PEXPIREAT':
      return endAt(changeOf(changes, key), Number(rest[0]))
    default:
      return applyToMembers(changeOf(changes, key), command, key, rest)
  }
}

function applyToMembers(change: KeyChange, command: string, key: string, rest: readonly string[]): void {
  const put = (kind: PieceKind, name: string, value: string) =>
    change.pieces.set(name, { key, kind, name, value, until: undefined })
  switch (command) {
    case 'HSET':
      for (const [field, value] of pairsIn(rest)) put('field', field, value)
      return
    case 'SADD':
      for (const member of rest) put('member', member, '')
      return
    case 'ZADD':
      for (const [score, member] of pairsIn(rest)) put('score', member, score)
      return
    case 'XADD':
      put('line', lineNumber(rest[0]), JSON.stringify(rest.slice(1)))
      return
    case 'HDEL':
    case 'SREM':
    case 'ZREM':
      for (const name of rest) change.pieces.set(name, undefined)
      return
    case 'ZREMRANGEBYSCORE':
      assert(rest[0] === '-inf', 'sorted members are removed from the lowest on')
      return removeUpTo(change, Number(rest[1]))
    case 'XTRIM':
      assert(rest[0] === 'MINID', 'a stream is trimmed by number')
      return trimTo(change, Number(lineNumber(rest.at(-1))))
    default:
      assert(false, `${command} is a command that the image knows`)
  }
}

function changeOf(changes: Map<string, KeyChange>, key: string): KeyChange {
  const known = changes.get(key)
  if (known !== undefined) return known
  const change = {
    isCleared: false,
    pieces: new Map<string, Piece>(),
    upToScore: undefined,
    fromLine: undefined,
    until: undefined,
  }
  changes.set(key, change)
  return change
}

function putText(change: KeyChange, key: string, value: string, until: number | undefined): void {
  change.until = undefined
  change.pieces.set('', { key, kind: 'text', name: '', value, until })
}

function clear(change: KeyChange): void {
  change.isCleared = true
  change.pieces.clear()
  change.upToScore = undefined
  change.fromLine = undefined
  change.until = undefined
}

function endAt(change: KeyChange, until: number): void {
  const text = change.pieces.get('')
  if (text !== undefined) change.pieces.set('', { ...text, until })
  else if (!change.isCleared) change.until = until
}

function removeUpTo(change: KeyChange, score: number): void {
  change.upToScore = Math.max(score, change.upToScore ?? score)
  for (const [name, piece] of change.pieces)
    if (piece?.kind === 'score' && Number(piece.value) <= score) change.pieces.set(name, undefined)
}

function trimTo(change: KeyChange, line: number): void {
  change.fromLine = Math.max(line, change.fromLine ?? line)
  for (const [name, piece] of change.pieces)
    if (piece?.kind === 'line' && Number(name) < line) change.pieces.set(name, undefined)
}

/** Lines are numbered by the first half of their ids; the other is always the same. */
function lineNumber(id: string | undefined): string {
  const [, number] = /^(\d+)-0$/.exec(id ?? '') ?? []
  assert(number !== undefined, 'a line has a number')
  return number
}

function* pairsIn(words: readonly string[]): Iterable<readonly [string, string]> {
  for (let i = 0; i + 1 < words.length; i += 2) yield [words[i] ?? '', words[i + 1] ?? '']
}

/** The commands that make these pieces on a server that has none of them. Those of one key must come in the order of their lines. */
export function commandsFor(pieces: Iterable<Piece>): readonly Command[] {
  const commands: string[][] = []
  for (const { key, kind, name, value, until } of pieces) {
    const last = commands.at(-1)
    const [command, ...words] = commandFor(kind, name, value, until)
    const joins = kind === 'field' || kind === 'member' || kind === 'score'
    if (joins && last?.[0] === command && last[1] === key && last.length < WORDS) last.push(...words)
    else commands.push([command, key, ...words])
  }
  return commands
}

/** Of one command: more than this Lua may not be able to hand on at once. */
const WORDS = 1_000

function commandFor(
  kind: PieceKind,
  name: string,
  value: string,
  until: number | undefined,
): readonly [string, ...string[]] {
  switch (kind) {
    case 'text':
      return until === undefined ? ['SET', value] : ['SET', value, 'PXAT', String(until)]
    case 'field':
      return ['HSET', name, value]
    case 'member':
      return ['SADD', name]
    case 'score':
      return ['ZADD', value, name]
    case 'line':
      return ['XADD', `${name}-0`, ...(JSON.parse(value) as string[])]
  }
}
