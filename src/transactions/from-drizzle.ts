/**
 * Drizzle: statements are built with its own `sql`, which comes along because pawl does not import the library. Any of its
 * Postgres drivers will do; some answer with rows, some with a result that has them.
 */
import type { Transaction } from '../store/store.ts'
import { placeholders } from './placeholders.ts'
import { rowsIn } from './rows.ts'

/** What is used of a transaction of Drizzle on Postgres. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>
}

/** What is used of the `sql` that `drizzle-orm` exports. */
export interface DrizzleSql<Query> {
  raw(text: string): Query
  param(value: unknown): unknown
  join(chunks: unknown[]): Query
}

/** For `{ tx }`, inside `db.transaction(async (tx) => …)`: `{ tx: fromDrizzle(tx, sql) }`, with `sql` from `drizzle-orm`. */
export const fromDrizzle = <Query>(tx: DrizzleTransaction<Query>, sql: DrizzleSql<Query>): Transaction => ({
  async query(text, values) {
    const { between, order } = placeholders(text)
    const chunks: unknown[] = []
    for (const [i, part] of between.entries()) {
      chunks.push(sql.raw(part))
      const n = order[i]
      if (n !== undefined) chunks.push(sql.param(values[n]))
    }
    return { rows: rowsIn(await tx.execute(sql.join(chunks))) }
  },
})
