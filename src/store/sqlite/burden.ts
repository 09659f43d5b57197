/**
 * How much a thread takes on in one turn, in bytes or letters, whichever is at hand. While texts are read, written and
 * handed over, nobody else is heard, so a turn that is bounded by number alone is as long as records are fat: a
 * claim of 900 took 1.6 s, and every heartbeat waited for it.
 */
import { type ChangeRow, endsIn, type InsertRow, moveIn, newJobIn } from './rows.ts'

const BEARABLE = 1024 * 1024

export class Burden {
  #carried = 0

  /** Whatever is left waits for the next turn. */
  get isFull(): boolean {
    return this.#carried >= BEARABLE
  }

  take(letters: number): void {
    this.#carried += letters
  }

  putDown(): void {
    this.#carried = 0
  }
}

/** Rows in their order, in parts of as much as one turn can bear, give or take a row. No rows at all are one part, too. */
export function* bearable<Row>(rows: readonly Row[], weigh: (row: Row) => number): Generator<readonly Row[]> {
  const burden = new Burden()
  let from = 0
  for (const [i, row] of rows.entries()) {
    if (burden.isFull) {
      yield rows.slice(from, i)
      from = i
      burden.putDown()
    }
    burden.take(weigh(row))
  }
  yield from === 0 ? rows : rows.slice(from)
}

/** Letters of a new job's head and input, the two that may be long. */
export function lettersOfInsert(row: InsertRow): number {
  const { head, input } = newJobIn(row)
  return (head?.length ?? 0) + (input?.length ?? 0)
}

/** Letters of what may be long in a change: texts, and lists of jobs that end alike. */
export function lettersOfChange(row: ChangeRow): number {
  if (row[0] === 'compact') {
    const [, , , was, log, record] = row
    return was.length + log.length + record.length
  }
  if (row[0] === 'ends') {
    const { own } = endsIn(row)
    return own === null ? 0 : lettersIn(own.logs) + lettersIn(own.outputs)
  }
  if (row[0] !== 'move') return 0
  const { record, log, output, more } = moveIn(row)
  const bodies = more === null ? 0 : more.bodies.reduce((sum, [, text]) => sum + text.length, 0)
  return (record?.length ?? 0) + log.length + (output?.length ?? 0) + bodies
}

/** Letters in a row, and in rows within it. */
export function lettersIn(row: unknown): number {
  if (typeof row === 'string') return row.length
  if (!Array.isArray(row)) return 0
  let letters = 0
  for (const cell of row) letters += lettersIn(cell)
  return letters
}
