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
    this.reading = new Reading(new OpenFile(this.#watched()))
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

  #watched(): DatabaseSync {
    return new Proxy(this.#db, {
      get: (db, key) => {
        if (key === 'prepare') return (sql: string) => this.#counted(db.prepare(sql))
        const value: unknown = Reflect.get(db, key, db)
        return typeof value === 'function' ? value.bind(db) : value
      },
    })
  }

  #counted(statement: StatementSync): StatementSync {
    return new Proxy(statement, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...values: readonly unknown[]) => {
          const answer: unknown = value.apply(target, values)
          if (key === 'all') this.#rows += (answer as readonly unknown[]).length
          if (key === 'get') this.#rows += answer === undefined ? 0 : 1
          return answer
        }
      },
    })
  }
}
