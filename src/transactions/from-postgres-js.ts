/** postgres.js: values are written as the type that the statement gives them, so what is JSON already is given as text. */
import type { Transaction } from '../store/store.ts'
import { rowsIn } from './rows.ts'

/** What is used of a transaction of postgres.js. */
export interface PostgresJsTransaction<Value> {
  unsafe(text: string, values: Value[]): PromiseLike<unknown>
}

/** For `{ tx }`, inside `sql.begin(async (sql) => …)`: `{ tx: fromPostgresJs(sql) }`. */
export const fromPostgresJs = <Value>(sql: PostgresJsTransaction<Value>): Transaction => ({
  query: async (text, values) => ({ rows: rowsIn(await sql.unsafe(text, values as Value[])) }),
})
