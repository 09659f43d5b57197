import { assert } from '../../../core/assert.ts'
import { type JobRow, jobIn } from '../job-row.ts'
import { KindsToSend } from './kinds-to-send.ts'
import type { OpenFile } from './open-file.ts'
import { one, type Row } from './rows.ts'
import { downwards, type ReadStatements, readStatements, upwards, type Walks } from './statements.ts'

/** The open file for reads: of the reading thread, and of the writing one where it reads before it writes. */
export class Reading {
  readonly file: OpenFile
  readonly sql: ReadStatements
  readonly kinds: KindsToSend

  constructor(file: OpenFile) {
    this.file = file
    this.sql = readStatements(file)
    this.kinds = new KindsToSend(this.sql)
  }

  walks(newest: boolean): Walks {
    return newest ? downwards(this.file) : upwards(this.file)
  }

  whole(id: number): JobRow | undefined {
    const row = one(this.sql.whole, id)
    return row && this.#withKind(row)
  }

  /** A row that `WHOLE` selected; its kind is sent along where the main thread does not have it. */
  #withKind(row: Row): JobRow {
    const job = jobIn(row)
    this.kinds.send(job.kind)
    assert(job.rev !== null, `job ${job.id} has its row in one of the places`)
    const made: readonly unknown[] = row
    return made as JobRow
  }

  /** Jobs that retention has removed, ever. */
  purged(): number {
    return one(this.sql.purged)?.[0] as number
  }

  /** Runs `work` in one read transaction: all it reads is of one moment, whatever other processes commit meanwhile. */
  ofOneMoment<Result>(work: () => Result): Result {
    this.sql.snapshot.run()
    try {
      return work()
    } finally {
      if (this.file.db.isTransaction) this.sql.leave.run()
    }
  }
}
