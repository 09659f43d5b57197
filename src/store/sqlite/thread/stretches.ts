/** Logs, a stretch of consecutive events per row, as far as a page has room for them. */
import type { LogRow } from '../job-row.ts'
import type { Reading } from './reading.ts'
import { all, one } from './rows.ts'

/** Bytes of texts in one answer, about: the main thread decodes them in one go. */
const PAGE_BYTES = 1 << 20
/** Looked for at a time: nobody knows before how long they are. */
const FEW = 8

/** How much more a page takes, in events and bytes. A stretch has at least one event; the first always fits. */
export class Room {
  #events: number
  #bytes: number

  constructor(events: number, bytes = PAGE_BYTES) {
    this.#events = events
    this.#bytes = bytes
  }

  get isFull(): boolean {
    return this.#events <= 0 || this.#bytes <= 0
  }

  /** Counts an event that is in no stretch. */
  takeOne(): void {
    this.#events -= 1
  }

  take([, opening, log]: LogRow): void {
    this.#events -= 1
    this.#bytes -= (opening?.length ?? 0) + (log?.length ?? 0)
  }
}

/**
 * Stretches after a revision, while there is room; `complete`: there are no more. The first event is in the job's own row,
 * what a lease has not logged in the lease's: that comes after all of these, and belongs to them only if they are complete.
 */
export function stretchesAfter(
  { sql }: Reading,
  id: number,
  afterRev: number,
  room: Room,
): { readonly log: readonly LogRow[]; readonly complete: boolean } {
  const log: LogRow[] = []
  const add = (row: LogRow): boolean => {
    if (room.isFull) return false
    room.take(row)
    return log.push(row) > 0
  }
  for (let rev = afterRev; ; ) {
    const some = all<LogRow>(sql.pastFrom, id, rev, FEW)
    if (!some.every(add)) return { log, complete: false }
    rev = some.at(-1)?.[0] ?? rev
    if (some.length < FEW) break
  }
  const done = one(sql.doneLog, id, id) as LogRow | undefined
  return { log, complete: done === undefined || done[0] <= afterRev || add(done) }
}

/** The stretch an event is in: none for those told by the job's or the lease's row. */
export function stretchAt({ sql }: Reading, id: number, rev: number): LogRow | undefined {
  const found = one(sql.pastAt, id, rev) ?? one(sql.doneLog, id, id)
  return found === undefined || (found[0] as number) < rev ? undefined : (found as LogRow & typeof found)
}

/** The stretches in which a request may be told of: by its hash, and the ends. */
export function stretchesAsked({ sql }: Reading, id: number, request: number): readonly LogRow[] {
  const log: LogRow[] = []
  const revs = all(sql.askedIn, id, request).map(([rev]) => rev as number)
  for (const rev of revs.sort((a, b) => a - b)) {
    const found = one(sql.pastAt, id, rev)
    if (found !== undefined) log.push(found as LogRow & typeof found)
  }
  const done = one(sql.doneLog, id, id) as LogRow | undefined
  return done === undefined ? log : [...log, done]
}
