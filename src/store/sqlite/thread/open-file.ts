import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * An open file with all statements ever made on it. They live until `close`, which ends them all at once and is the one
 * place where any of them ends: a statement that is dropped is finalised by the collector, at a time of its own, in the
 * middle of another. There are as many as there are texts, and texts are a closed list (`statements.ts`).
 */
export class OpenFile {
  readonly db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Rows come as lists. Parameters are `?` alone: Node 22 takes `?1` for a name and cannot bind it by position. */
  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.db.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }

  close(): void {
    if (this.db.isOpen) this.db.close()
  }
}
