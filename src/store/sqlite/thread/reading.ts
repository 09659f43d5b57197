import { assert } from '../../../core/assert.ts'
import type { JobRow, LeaseRow } from '../rows.ts'
import type { OpenFile } from './open-file.ts'
import { type Cell, one, type Row } from './rows.ts'
import { downwards, type ReadStatements, readStatements, upwards, type Walks } from './statements.ts'
import { ToldKinds } from './told-kinds.ts'

/** The open file for whoever only looks: the reading thread, and the writing one where it looks before it writes. */
export class Reading {
  readonly file: OpenFile
  readonly sql: ReadStatements
  readonly kinds: ToldKinds

  constructor(file: OpenFile) {
    this.file = file
    this.sql = readStatements(file)
    this.kinds = new ToldKinds(this.sql)
  }

  walks(newest: boolean): Walks {
    return newest ? downwards(this.file) : upwards(this.file)
  }

  whole(id: number): JobRow | undefined {
    const row = one(this.sql.whole, id)
    return row && this.jobRow(row)
  }

  /** From `WHOLE`. */
  jobRow(row: Row): JobRow {
    const [id, kind, at, priority, head, record] = row as JobRow & Row
    this.kinds.tell(kind)
    assert(row.at(-1) !== null, `job ${id} has its row in one of the places`)
    const rest: readonly Cell[] = row.slice(6, -3)
    const log = row.at(-2) as string | null
    const told = log === null ? null : ([row.at(-3) as string | null, log] as const)
    return [id, kind, at, priority, head, record, row[6] === null ? null : (rest as LeaseRow), told]
  }

  /** Jobs that retention has removed, ever. */
  purged(): number {
    return one(this.sql.purged)?.[0] as number
  }

  /** Everything that `work` reads is of one moment, whoever commits meanwhile. */
  ofOneMoment<Result>(work: () => Result): Result {
    this.sql.snapshot.run()
    try {
      return work()
    } finally {
      if (this.file.db.isTransaction) this.sql.leave.run()
    }
  }
}
