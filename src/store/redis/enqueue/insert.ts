/**
 * New jobs. The script says by id whom one has met; what that is by now is read afterwards, because few meet anybody, and those who
 * are met may be many and fat.
 */
import { assert } from '../../../core/assert.ts'
import type { Time } from '../../../core/job.ts'
import { type Rejected, rejected } from '../../codec/unstorable.ts'
import { mayHaveInputOf } from '../../meeting.ts'
import type { InsertAnswer, Inserted, KeyPurpose, Loaded, LoadItem, NewJob } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { word } from '../connection/reply.ts'
import { newcomerWords } from '../job/encode.ts'
import { idOf } from '../job/id-text.ts'
import type { Kinds } from '../job/kinds.ts'
import { lettersIn, portions, sendAll } from '../script/portions.ts'

export interface InsertParts {
  readonly calls: Calls
  readonly kinds: Kinds
  readonly load: (items: readonly LoadItem[]) => Promise<readonly (Loaded | undefined)[]>
}

type Met = { readonly by: 'id' | 'alias' | KeyPurpose; readonly id: string }
type Row = 'born' | Met | Rejected

/** `isTouched`: others that are answered together with these were written. */
export async function insert(
  parts: InsertParts,
  items: readonly NewJob[],
  together: boolean,
  isTouched = false,
): Promise<InsertAnswer> {
  const rows: (Row | undefined)[] = new Array(items.length).fill(undefined)
  const work = () => write(parts, items, together, rows)
  const now = await parts.calls.repeated(work, () => isTouched || rows.includes('born'))
  if (rows.every((row) => row === 'born')) return { now, items: rows.map(() => INSERTED) }
  const there = await whoWasFirst(parts, items, rows as readonly Row[], together)
  const answers = rows.map((row, i) => answerOf(row as Row, items[i] as NewJob, there))
  const free = items.filter((_, i) => answers[i] === undefined)
  // The holder of an id or key has been purged meanwhile: the place is free, so the items are tried again.
  if (free.length > 0 && together) return insert(parts, items, true)
  const again =
    free.length === 0 ? [] : [...(await insert(parts, free, false, isTouched || rows.includes('born'))).items]
  return { now, items: answers.map((answer) => answer ?? (again.shift() as Inserted)) }
}

interface Encoded {
  readonly place: number
  readonly words: readonly string[]
}

/** Fills in what becomes of each. What a repetition finds answered stays so: a job that is there would meet itself. */
async function write(
  { calls, kinds }: InsertParts,
  items: readonly NewJob[],
  together: boolean,
  rows: (Row | undefined)[],
): Promise<Time> {
  const { life } = calls
  await kinds.intern(items.map(({ job }) => job.spec.kind))
  const sound: Encoded[] = []
  for (const [place, item] of items.entries()) {
    if (rows[place] !== undefined) continue
    const words = wordsOf(item, kinds)
    if (isRejected(words)) rows[place] = words
    else sound.push({ place, words })
  }
  // All or none: where one item cannot be written down, the others are not tried.
  const isHopeless = together && rows.some((row) => row !== undefined)
  if (isHopeless) for (const { place } of sound) rows[place] = 'born'
  const lettersOf = ({ words }: Encoded) => lettersIn(words)
  const sent = isHopeless || sound.length === 0 ? [[]] : together ? [sound] : portions(sound, lettersOf)
  let now = 0
  await sendAll(sent, async (part) => {
    const args = [together ? '1' : '0', String(part.length), ...part.flatMap(({ words }) => words)]
    const answer = await calls.call('insert', args, life)
    now = calls.timeIn(answer)
    for (const [i, { place }] of part.entries()) rows[place] = rowOf(word(answer[i + 1]))
  })
  return now
}

const isRejected = (each: readonly string[] | Rejected): each is Rejected => !Array.isArray(each)

function wordsOf(item: NewJob, kinds: Kinds): readonly string[] | Rejected {
  const kind = kinds.numberOf(item.job.spec.kind)
  assert(kind !== undefined, 'kinds have been given numbers')
  try {
    return newcomerWords(item, kind)
  } catch (error) {
    return rejected(error)
  }
}

function rowOf(text: string): Row {
  if (text === '') return 'born'
  const [by, id] = text.split(' ')
  return { by: by as Met['by'], id: idOf(id ?? '') }
}

type There = Pick<NewJob, 'job' | 'input'>

/** The holders that items have met. Inputs only where they may equal the newcomer's. */
async function whoWasFirst(
  { load }: InsertParts,
  items: readonly NewJob[],
  rows: readonly Row[],
  together: boolean,
): Promise<ReadonlyMap<string, There>> {
  const there = new Map<string, There>()
  // Those that came together were not written, so a holder among them is taken from the call. Reversed, so that of two with one id the first counts.
  if (together) for (const item of items.toReversed()) there.set(item.job.id, item)
  const met = rows.flatMap((row, i) => (isMet(row) ? [{ id: row.id, item: items[i] as NewJob }] : []))
  const ids = [...new Set(met.map(({ id }) => id))]
  for (const found of await load(ids.map((id) => ({ id })))) {
    if (found !== undefined) there.set(found.job.id, { job: found.job, input: undefined })
  }
  const wanted = met.filter(({ id, item }) => {
    const found = there.get(id)
    return (
      found !== undefined && found.input === undefined && item.input !== undefined && mayHaveInputOf(found.job, item)
    )
  })
  const withInput = [...new Set(wanted.map(({ id }) => id))]
  if (withInput.length === 0) return there
  for (const found of await load(withInput.map((id) => ({ id, bodies: ['input'] })))) {
    if (found !== undefined) there.set(found.job.id, { job: found.job, input: found.bodies['input'] })
  }
  return there
}

const isMet = (row: Row): row is Met => typeof row !== 'string' && 'by' in row

/** Undefined where the holder is not there any more. */
function answerOf(row: Row, item: NewJob, there: ReadonlyMap<string, There>): Inserted | undefined {
  if (row === 'born') return INSERTED
  if (!isMet(row)) return row
  const found = there.get(row.id)
  if (found === undefined) return undefined
  const sameInput = mayHaveInputOf(found.job, item) && found.input === item.input
  return { status: 'exists', by: row.by, job: found.job, sameInput }
}

const INSERTED: Inserted = { status: 'inserted' }
