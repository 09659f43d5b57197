/** A new job as the database takes it in: as JSON, or as a row of many columns. */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import { digest } from '../../../core/hash.ts'
import { idNumber } from '../../../core/id.ts'
import { type Spec, STATES, type State } from '../../../core/job.ts'
import { judgeAt } from '../../../core/timers.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { type EnqueuedEvent, encodeEnqueued } from '../../codec/enqueued.ts'
import { laneNumber } from '../../codec/lane.ts'
import { correlationMark, marksOf } from '../../codec/marks.ts'
import { storable } from '../../codec/text.ts'
import type { Key, NewJob } from '../../store.ts'
import { bigints, texts } from '../batch/arrays.ts'
import { literal, uniform } from '../batch/uniform.ts'
import type { Kinds } from '../names/kinds.ts'

/** Absent keys are absent columns; the names are explained in `enqueue/bear.sql`. */
export interface NewRow {
  readonly i: number
  readonly t: number
  readonly k: number
  readonly l: number
  readonly w: number
  readonly b: string | undefined
  readonly h: string | undefined
  readonly c: string | undefined
  readonly m: readonly string[] | undefined
  readonly r: number | undefined
  readonly n: number | undefined
  readonly p: 1 | undefined
}

export interface KeyedRow extends NewRow {
  /** Careful: core decides each heartbeat of this job from its first claim on. */
  readonly ca: true | undefined
  /** The lane of its flow, in which it is held. */
  readonly hl: number | undefined
  readonly tn: string
  readonly ks: readonly KeyRow[] | undefined
  readonly s: string
}

export interface KeyRow {
  readonly p: string
  readonly k: string
  readonly u: number | undefined
}

export function newRow({ job, event, input }: NewJob, kinds: Kinds): NewRow {
  const { spec } = job
  const kind = kinds.of(spec.kind)
  const rests = job.readyAt === undefined
  // One that is inserted again may have moved since; it meets itself, and no row of it is made.
  const isBorn = job.rev === event.rev
  assert(!isBorn || judgeAt(job) === (rests ? event.at : undefined), 'what is born at rest waits to be judged')
  return {
    i: idNumber(job.id) as number,
    t: event.at,
    k: kind.id,
    l: job.needs === undefined ? laneNumber(kind.queue, job.priority) : kinds.lane(job),
    w: kind.windowMs,
    b: input === undefined ? undefined : storable(input),
    h: encodeEnqueued(event as EnqueuedEvent),
    c: spec.correlationId === job.id ? undefined : digest(correlationMark(spec.kind.tenant, spec.correlationId)),
    m: markHashes(spec),
    r: job.readyAt === event.at ? undefined : job.readyAt,
    n: job.nextTickAt,
    p: rests ? 1 : undefined,
  }
}

/** Rows as the columns `insert_plain` takes; what all of them share is there once. */
export function columnsOf(rows: readonly NewRow[]): readonly (Buffer | string)[] {
  return [
    bigints(rows.map(({ i }) => i)),
    texts(uniform(rows, ({ b }) => b)),
    texts(uniform(rows, ({ h }) => h)),
    literal(uniform(rows, ({ t }) => t)),
    literal(uniform(rows, ({ k }) => k)),
    literal(uniform(rows, ({ l }) => l)),
    literal(uniform(rows, ({ w }) => w)),
    texts(uniform(rows, ({ c }) => c)),
    // Letters and digits: nothing in them needs quotes.
    texts(uniform(rows, ({ m }) => m && `{${m}}`)),
    literal(uniform(rows, ({ r }) => r)),
    literal(uniform(rows, ({ n }) => n)),
    literal(uniform(rows, ({ p }) => p)),
  ]
}

/** Their keys as the columns `insert_keyed` takes besides; undefined where an id or a key is there twice. */
export function keyColumnsOf(rows: readonly KeyedRow[]): readonly (Buffer | string)[] | undefined {
  const keys: KeyRow[] = []
  const takers: KeyedRow[] = []
  for (const row of rows) {
    for (const key of row.ks ?? NO_KEYS) {
      keys.push(key)
      takers.push(row)
    }
  }
  const tenants = uniform(takers, ({ tn }) => tn)
  const purposes = uniform(keys, ({ p }) => p)
  // Where all are one tenant's and for one purpose, the key alone is what tells it from others.
  const isTold = tenants.length === 1 && purposes.length === 1
  const names = new Set(
    isTold ? keys.map(({ k }) => k) : keys.map(({ p, k }, n) => `${takers[n]?.tn}\u0000${p}\u0000${k}`),
  )
  if (new Set(rows.map(({ i }) => i)).size < rows.length || names.size < keys.length) return undefined
  return [
    texts(keys.map(({ k }) => k)),
    bigints(takers.map(({ i }) => i)),
    texts(tenants),
    texts(purposes),
    literal(uniform(keys, ({ u }) => u)),
  ]
}

const NO_KEYS: readonly KeyRow[] = []

/** `held`: the lane in which it is held, where it has a flow. */
export function keyedRow(item: NewJob, kinds: Kinds, held: number | undefined): KeyedRow {
  const { alias, kind: own } = item.job.spec
  const keys = item.keys.map(keyRow)
  if (alias !== undefined) keys.unshift({ p: 'alias', k: keyText(alias), u: undefined })
  return {
    ...newRow(item, kinds),
    ca: isMereRenewal(item.job) ? undefined : true,
    hl: held,
    tn: storable(own.tenant),
    ks: keys.length === 0 ? undefined : keys,
    s: birthShape(item),
  }
}

export const keyRow = ({ purpose, key, until }: Key): KeyRow => ({ p: purpose, k: keyText(key), u: until })

/** The shape of a birth for the feed: no state before, `enqueued`, the state it was born in. */
export const birthShape = ({ job }: NewJob): string => BIRTH_SHAPES[job.state]

const BIRTH_SHAPES = Object.fromEntries(
  STATES.map((state) => [state, `-${EVENT_CODES.enqueued}${STATE_CODES[state]}`]),
) as Readonly<Record<State, string>>

/** A key as it is indexed: one that is too long for a page of the index is replaced by its hash. */
export function keyText(text: string): string {
  if (text.length <= KEY_LENGTH) return storable(text)
  return `\u0002${createHash('sha256').update(text, 'utf16le').digest('base64url')}`
}

/** A key, and the words themselves where it is a hash of them. */
export function named(text: string): { readonly k: string; readonly n: string | undefined } {
  const k = keyText(text)
  const n = storable(text)
  return { k, n: k === n ? undefined : n }
}

const KEY_LENGTH = 512

/** Hashes of the marks that a job can be found by, besides its kind and correlation; each once. */
function markHashes(spec: Spec): readonly string[] | undefined {
  const marks = marksOf(spec.kind.tenant, spec)
  if (marks.length < 2) return marks.length === 0 ? undefined : marks.map(digest)
  return [...new Set(marks.map(digest))]
}
