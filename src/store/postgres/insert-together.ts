/**
 * Enqueues that are all there or none: in a statement with nobody else's, which undoes itself where one of them meets
 * somebody. The function tells what each met, or would have met; whether that will do is for the engine to say.
 */
import { assert } from '../../core/assert.ts'
import { idNumber } from '../../core/id.ts'
import type { Kind } from '../../core/job.ts'
import type { Inserted, NewJob } from '../store.ts'
import { codeOf, isItems, type Row } from './connection.ts'
import type { InsertParts } from './insert.ts'
import { keyedRow } from './new-row.ts'
import { holderOf, INSERTED, insertedBy, rejected, type Verdict, verdictsIn } from './verdict.ts'

const LOCK_TRIES = 50

export async function insertTogether(parts: InsertParts, items: readonly NewJob[]): Promise<readonly Inserted[]> {
  for (;;) {
    const verdicts = await verdictsOn(parts, items)
    if (verdicts.every((verdict) => verdict === undefined)) {
      const kinds = new Set<Kind>()
      for (const { job } of items) if (job.readyAt !== undefined) kinds.add(job.spec.kind)
      parts.hints.work(kinds, kinds.size === 0 ? 0 : items.length, false)
      return items.map(() => INSERTED)
    }
    const answers = await met(items, verdicts, parts.load)
    // Whoever was first has been removed meanwhile: the place is free.
    if (answers !== undefined) return answers
  }
}

/** In the caller's transaction. Nothing is repeated: the transaction is the caller's. */
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

async function verdictsOn(parts: InsertParts, items: readonly NewJob[]): Promise<readonly Verdict[]> {
  try {
    return await asked(parts, items)
  } catch (error) {
    if (!isItems(error)) throw error
    // Each with a twin: of two that are the same neither is inserted, and what is wrong with it is told.
    const verdicts: Verdict[] = []
    for (const item of items) verdicts.push(await wrongWith(parts, item))
    assert(
      verdicts.some((verdict) => verdict !== undefined),
      'what cannot be kept together cannot be kept alone',
    )
    return verdicts
  }
}

async function wrongWith(parts: InsertParts, item: NewJob): Promise<Verdict> {
  try {
    return (await asked(parts, [item, item]))[0]
  } catch (error) {
    if (!isItems(error)) throw error
    return rejected(error)
  }
}

async function asked(parts: InsertParts, items: readonly NewJob[]): Promise<readonly Verdict[]> {
  let again = false
  const values = (repeated: boolean) => {
    again ||= repeated
    return [rowsOf(parts, items)]
  }
  for (let tries = 0; ; tries += 1) {
    try {
      const rows = await parts.keyed.run(parts.statements.enqueueTogether, values, true)
      const { now, verdicts } = verdictsIn(rows, again)
      parts.sawClock(now)
      return verdicts
    } catch (error) {
      // A key held in somebody's open transaction: they decide, we ask again for a while.
      if (codeOf(error) !== '55P03') throw error
      if (tries >= LOCK_TRIES)
        throw new Error('pawl: a key is held by a transaction that does not end', { cause: error })
    }
  }
}

const rowsOf = ({ kinds }: InsertParts, items: readonly NewJob[]): string =>
  JSON.stringify(items.map((item) => keyedRow(item, kinds.of(item.job.spec.kind))))

/** Some of them have met others of the same call. Undefined where one met somebody who is not there any more. */
async function met(
  items: readonly NewJob[],
  verdicts: readonly Verdict[],
  load: InsertParts['load'],
): Promise<readonly Inserted[] | undefined> {
  const own = new Map<number, Pick<NewJob, 'job' | 'input'>>()
  // Of two with one id the first is met.
  for (const { job, input } of items.toReversed()) own.set(idNumber(job.id) ?? 0, { job, input })
  const holders = verdicts.flatMap((verdict) => (verdict === undefined ? [] : [holderOf(verdict)]))
  const found = await load(holders.filter((holder) => holder > 0 && !own.has(holder)))
  const there = new Map([...own, ...found])
  const answers: Inserted[] = []
  for (const verdict of verdicts) {
    const answer = insertedBy(verdict, there)
    if (answer === undefined) return undefined
    answers.push(answer)
  }
  return answers
}
