/** One line of a foreign log, read with suspicion: it may be anything. */
import type { Dialect } from './dialect.ts'

export interface Line {
  readonly n: number
  readonly fault: string | undefined
  readonly word: string
  readonly from: string | undefined
  readonly to: string | undefined
  readonly time: number | undefined
  readonly identity: string | number | undefined
  readonly job: string | number | undefined
  readonly attempt: number | undefined
  readonly code: string | undefined
  /** Of logs that we have told: how the line hangs together with the one before it. */
  readonly link: Link | undefined
}

export interface Link {
  readonly rev: number
  readonly afterRev: number
  readonly move: number
  readonly moves: number
  /** Nobody did this. */
  readonly implied: boolean
}

/** Undefined: this is no list at all. */
export function linesOf(dialect: Dialect, log: unknown): readonly Line[] | undefined {
  return Array.isArray(log) ? Array.from(log, (entry: unknown, i) => lineOf(dialect, entry, i + 1)) : undefined
}

function lineOf(dialect: Dialect, entry: unknown, n: number): Line {
  if (typeof entry === 'string') return { ...EMPTY, n, word: short(entry) }
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return { ...EMPTY, n, fault: 'an entry is an object, or a word alone' }
  try {
    return fieldsOf(dialect, entry as Entry, n)
  } catch {
    return { ...EMPTY, n, fault: 'it cannot be read' }
  }
}

type Entry = Readonly<Record<string, unknown>>

function fieldsOf(dialect: Dialect, entry: Entry, n: number): Line {
  const { log } = dialect
  const name = log.word.find((field) => own(entry, field) !== undefined)
  const word = name === undefined ? undefined : own(entry, name)
  if (typeof word !== 'string') return { ...EMPTY, n, fault: `it has no ${log.word[0]} that is text` }
  const payload = own(entry, 'payload')
  const inner = typeof payload === 'object' && payload !== null ? (payload as Entry) : {}
  return {
    n,
    fault: undefined,
    word: short(word),
    from: textOf(own(entry, log.from)),
    to: textOf(own(entry, log.to)),
    time: timeOf(own(entry, log.time)),
    identity: keyOf(own(entry, log.identity)),
    job: keyOf(own(entry, log.job)),
    attempt: ['attempts', 'attempt']
      .flatMap((field) => [own(entry, field), own(inner, field)])
      .find((value): value is number => Number.isSafeInteger(value)),
    code: textOf(own(entry, 'code')) ?? textOf(own(entry, 'error_code')),
    link: linkOf(entry),
  }
}

/** A log from elsewhere has none: it is judged by the document's table alone. */
function linkOf(entry: Entry): Link | undefined {
  const [rev, afterRev, move = 1, moves = 1] = (['rev', 'after_rev', 'move', 'moves'] as const).map((name) =>
    own(entry, name),
  )
  const implied = own(entry, 'implied') === true
  return [rev, afterRev, move, moves].every(Number.isSafeInteger)
    ? ({ rev, afterRev, move, moves, implied } as Link)
    : undefined
}

const EMPTY: Line = {
  n: 0,
  fault: undefined,
  word: '',
  from: undefined,
  to: undefined,
  time: undefined,
  identity: undefined,
  job: undefined,
  attempt: undefined,
  code: undefined,
  link: undefined,
}

const own = (entry: Entry, field: string | undefined): unknown =>
  field !== undefined && Object.hasOwn(entry, field) ? entry[field] : undefined

/** Long enough for any word a document knows, short enough to be repeated in a message. */
const short = (text: string): string => text.slice(0, 80)
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? short(value) : undefined)
const keyOf = (value: unknown): string | number | undefined =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}
