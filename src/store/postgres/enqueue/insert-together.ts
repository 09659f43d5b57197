/**
 * Enqueues that are all there or none: in a statement with nobody else's, which undoes itself where one of them meets
 * somebody. The function tells what each met, or would have met; whether that will do is for the engine to say.
 */
import { assert } from '../../../core/assert.ts'
import { idNumber } from '../../../core/id.ts'
import type { Inserted, NewJob } from '../../store.ts'
import type { Row } from '../connection/client.ts'
import { codeOf, isItems, LOCK_NOT_AVAILABLE } from '../connection/trouble.ts'
import type { Held } from './held.ts'
import type { InsertParts } from './insert.ts'
import {
  BUSY,
  INSERTED,
  type InsertVerdict,
  insertedBy,
  isBusy,
  isOwn,
  meetingsIn,
  rejected,
  verdictsIn,
} from './insert-verdict.ts'
import { keyedRow } from './new-row.ts'
import { readySides } from './ready-sides.ts'

export async function insertTogether(
  parts: InsertParts,
  items: readonly NewJob[],
  held: Held,
): Promise<readonly Inserted[]> {
  for (;;) {
    const answers = await met(items, await verdictsOn(parts, items, held), parts.load)
    // The job that had the key or id has been purged meanwhile: the place is free, so all are tried again.
    if (answers === undefined) continue
    if (answers.every(({ status }) => status === 'inserted')) tell(parts, items)
    return answers
  }
}

function tell({ hints }: InsertParts, items: readonly NewJob[]): void {
  const sides = readySides(items)
  hints.work(sides, sides.length === 0 ? 0 : items.length, false)
}

/** As `insertTogether`, inside the caller's transaction: an error ends that, so no statement is repeated. */
export async function insertTogetherIn(
  parts: InsertParts,
  items: readonly NewJob[],
  run: (text: string, values: unknown[]) => Promise<Row[]>,
  load: InsertParts['load'],
): Promise<readonly Inserted[]> {
  const { now, verdicts } = verdictsIn(await run(parts.statements.enqueueTogether, [rowsOf(parts, items)]), false)
  parts.sawClock(now)
  const answers = await met(items, verdicts, load)
  assert(answers !== undefined, 'whoever was first is seen by the transaction that met it')
  return answers
}

async function verdictsOn(parts: InsertParts, items: readonly NewJob[], held: Held): Promise<readonly InsertVerdict[]> {
  const asked = asking(parts, items)
  let verdicts: readonly InsertVerdict[] = []
  /** Whether all is decided. A lock that was not to be had at all is no different from one for which it says so. */
  const ask = async (): Promise<boolean> => {
    try {
      verdicts = await asked()
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
      verdicts = items.map(() => BUSY)
    }
    return !verdicts.some(isBusy)
  }
  try {
    if (!(await ask())) await held.repeated(ask)
    return verdicts
  } catch (error) {
    if (!isItems(error)) throw error
    const wrong: InsertVerdict[] = []
    for (const item of items) wrong.push(await wrongWith(parts, item))
    assert(!wrong.every((verdict) => verdict === undefined), 'what cannot be kept together cannot be kept alone')
    return wrong
  }
}

/** Asks for the item twice in one call: two with one id exclude each other, so neither is inserted, and the verdict says what is wrong. */
async function wrongWith(parts: InsertParts, item: NewJob): Promise<InsertVerdict> {
  try {
    return (await asking(parts, [item, item])())[0]
  } catch (error) {
    if (!isItems(error)) throw error
    return codeOf(error) === LOCK_NOT_AVAILABLE ? BUSY : rejected(error)
  }
}

/**
 * A question that may be asked again, always by the first connection for keys: such calls are rare, and behind each other they leave the
 * other connection to those that ride together. Once an answer was lost, an id that is there may have been inserted by that try (`again`). */
function asking(parts: InsertParts, items: readonly NewJob[]): () => Promise<readonly InsertVerdict[]> {
  let again = false
  const values = (repeated: boolean) => {
    again ||= repeated
    return [rowsOf(parts, items)]
  }
  return async () => {
    const rows = await parts.keyed[0].run(parts.statements.enqueueTogether, values, true)
    const { now, verdicts } = verdictsIn(rows, again)
    parts.sawClock(now)
    return verdicts
  }
}

const rowsOf = ({ kinds, letting }: InsertParts, items: readonly NewJob[]): string =>
  JSON.stringify(items.map((item) => keyedRow(item, kinds, letting.flows.heldLane(item.job))))

/** Answers for items of which some have met others, of the same call or of the store. Undefined where a holder is not there any more. */
async function met(
  items: readonly NewJob[],
  verdicts: readonly InsertVerdict[],
  load: InsertParts['load'],
): Promise<readonly Inserted[] | undefined> {
  if (verdicts.every((verdict) => verdict === undefined)) return items.map(() => INSERTED)
  const own = new Map<number, Pick<NewJob, 'job' | 'input'>>()
  // Reversed, so that of two items with one id the first is the one that others meet.
  for (const { job, input } of items.toReversed()) own.set(idNumber(job.id) ?? 0, { job, input })
  const others = meetingsIn(items, verdicts).filter(
    ({ verdict, holder }) => isOwn(verdict) || (holder > 0 && !own.has(holder)),
  )
  const there = new Map([...own, ...(await load(others))])
  const answers: Inserted[] = []
  for (const [i, verdict] of verdicts.entries()) {
    const answer = insertedBy(items[i] as NewJob, verdict, there)
    if (answer === undefined) return undefined
    answers.push(answer)
  }
  return answers
}
