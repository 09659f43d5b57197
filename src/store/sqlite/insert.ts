/**
 * New jobs. The writing thread says by number whom one has met; what that is by now the reading thread tells, so much at
 * a time. Because those met may be many and fat, and heartbeats wait behind the writing thread: a thousand names that were
 * taken kept it busy for 4.4 s.
 */
import { assert } from '../../core/assert.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Time } from '../../core/job.ts'
import type { Rejected } from '../codec/unstorable.ts'
import { mayHaveInputOf } from '../meeting.ts'
import type { InsertAnswer, Inserted, Loaded, LoadItem, NewJob } from '../store.ts'
import { bearable, lettersOfInsert } from './burden.ts'
import type { Channel } from './channel.ts'
import { insertRow } from './encode.ts'
import type { Hints } from './hints.ts'
import type { Kinds } from './kinds.ts'
import { rejected } from './rejected.ts'
import type { InsertedRow, InsertRow, KindRow } from './rows.ts'

export interface InsertParts {
  readonly writer: Channel
  readonly kinds: Kinds
  readonly hints: Hints
  /** Beside the writing thread. */
  readonly load: (items: readonly LoadItem[]) => Promise<readonly (Loaded | undefined)[]>
}

export async function insert(parts: InsertParts, items: readonly NewJob[], together: boolean): Promise<InsertAnswer> {
  const { now, rows } = await write(parts, items, together)
  const there = await whoWasFirst(parts, items, rows, together)
  const answers = rows.map((row, i) => answerOf(row, items[i] as NewJob, there))
  const free = items.filter((_, i) => answers[i] === undefined)
  // The holder of an id or key has been purged meanwhile: the place is free, so the items are tried again.
  if (free.length > 0 && together) return insert(parts, items, true)
  const again = free.length === 0 ? undefined : (await insert(parts, free, false)).items[Symbol.iterator]()
  const undone = together && answers.some((answer) => answer?.status !== 'inserted')
  for (const [i, { job }] of items.entries()) if (answers[i]?.status === 'inserted' && !undone) parts.hints.about(job)
  return { now, items: answers.map((answer) => answer ?? next(again)) }
}

interface Written {
  readonly now: Time
  readonly rows: readonly (InsertedRow | Rejected)[]
}

async function write({ writer, kinds }: InsertParts, items: readonly NewJob[], together: boolean): Promise<Written> {
  const unknown: KindRow[] = []
  const rows = items.map((item) => rowOf(item, (kind) => kinds.reference(kind, unknown)))
  const storable = rows.filter((row): row is InsertRow => !('rule' in row))
  // All or none: where one item cannot be written as a row, the others are not tried.
  const hopeless = together && storable.length < rows.length
  let now = 0
  const answered: InsertedRow[] = []
  // Items that come together go in one call, however many: no turn may end between them.
  for (const part of hopeless ? [[]] : together ? [storable] : bearable(storable, lettersOfInsert)) {
    const reply = await writer.call('insert', { kinds: unknown, rows: part, together })
    now = reply.now
    answered.push(...reply.answered)
  }
  const verdicts = (hopeless ? storable.map((): InsertedRow => 1) : answered)[Symbol.iterator]()
  return { now, rows: rows.map((row) => ('rule' in row ? row : next(verdicts))) }
}

function rowOf(item: NewJob, reference: Parameters<typeof insertRow>[1]): InsertRow | Rejected {
  try {
    return insertRow(item, reference)
  } catch (error) {
    return rejected(error)
  }
}

type There = Pick<NewJob, 'job' | 'input'>

/** The holders that items have met, by number. Inputs only where they may equal the newcomer's. */
async function whoWasFirst(
  { load }: InsertParts,
  items: readonly NewJob[],
  rows: Written['rows'],
  together: boolean,
): Promise<ReadonlyMap<number, There>> {
  const there = new Map<number, There>()
  const met = rows.flatMap((row, i) => {
    if (!isMeeting(row)) return []
    const [, , number] = row
    return [{ number, item: items[i] as NewJob }]
  })
  if (met.length === 0) return there
  // Items that came together were rolled back, so a holder among them is in no table: it is taken from the call. Reversed, so that of two with one id the first counts.
  if (together) for (const item of items.toReversed()) there.set(idNumber(item.job.id) ?? 0, item)
  const numbers = [...new Set(met.map(({ number }) => number))]
  for (const found of await load(numbers.map((number) => ({ id: idText(number) })))) {
    if (found !== undefined) there.set(idNumber(found.job.id) ?? 0, { job: found.job, input: undefined })
  }
  const wanted = met.filter(({ number, item }) => {
    const found = there.get(number)
    return (
      item.input !== undefined && found?.input === undefined && found !== undefined && mayHaveInputOf(found.job, item)
    )
  })
  const ids = [...new Set(wanted.map(({ number }) => idText(number)))]
  for (const found of ids.length === 0 ? [] : await load(ids.map((id) => ({ id, bodies: ['input'] })))) {
    if (found !== undefined) there.set(idNumber(found.job.id) ?? 0, { job: found.job, input: found.bodies['input'] })
  }
  return there
}

const isMeeting = (row: InsertedRow | Rejected): row is Extract<InsertedRow, readonly ['exists', ...unknown[]]> =>
  Array.isArray(row) && row[0] === 'exists'

/** Undefined where the holder is not there any more. */
function answerOf(row: InsertedRow | Rejected, item: NewJob, there: ReadonlyMap<number, There>): Inserted | undefined {
  if (row === 1) return INSERTED
  if ('rule' in row) return row
  if (row[0] === 'rejected') {
    const [, rule] = row
    return { status: 'rejected', field: 'job', rule }
  }
  const [, by, holder] = row
  const found = there.get(holder)
  if (found === undefined) return undefined
  const sameInput = mayHaveInputOf(found.job, item) && found.input === item.input
  return { status: 'exists', by, job: found.job, sameInput }
}

const INSERTED: Inserted = { status: 'inserted' }

function next<Value>(values: Iterator<Value> | undefined): Value {
  const value = values?.next()
  assert(value !== undefined && value.done !== true, 'every item is answered')
  return value.value
}
