import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { OpenFile } from '../../../src/store/sqlite/thread/open-file.ts'
import { Reading } from '../../../src/store/sqlite/thread/reading.ts'

/**
 * A file to read from, with the rows counted that its statements hand out. Each statement walks an index and hands out
 * whatever it walks over (`plans.test.ts`), so that this is the work there is.
 */
export class Counting implements Disposable {
  readonly reading: Reading
  readonly #db: DatabaseSync
  #rows = 0

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { readOnly: true })
    this.reading = new Reading(
      new OpenFile(
        watched(this.#db, (rows) => {
          this.#rows += rows
        }),
      ),
    )
  }

  /** What it took to answer, and the answer. */
  of<Answer>(question: (reading: Reading) => Answer): { readonly rows: number; readonly answer: Answer } {
    // Whatever is remembered from one question to the next is, from here on.
    question(this.reading)
    this.#rows = 0
    const answer = this.reading.ofOneMoment(() => question(this.reading))
    return { rows: this.#rows, answer }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

/** A file of which every statement tells how many rows it has handed out, or, where it writes, that it was run. */
export function watched(db: DatabaseSync, tell: (rows: number, sql: string) => void): DatabaseSync {
  return new Proxy(db, {
    get: (target, key) => {
      if (key === 'prepare') return (sql: string) => counted(target.prepare(sql), (rows) => tell(rows, sql))
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function counted(statement: StatementSync, tell: (rows: number) => void): StatementSync {
  return new Proxy(statement, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...values: readonly unknown[]) => {
        const answer: unknown = value.apply(target, values)
        if (key === 'all') tell((answer as readonly unknown[]).length)
        if (key === 'get') tell(answer === undefined ? 0 : 1)
        if (key === 'run') tell(1)
        return answer
      }
    },
  })
}
