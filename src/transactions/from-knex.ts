/** knex: its own placeholders are question marks, taken in the order they stand. */
import type { Transaction } from '../store/store.ts'
import { placeholders } from './placeholders.ts'
import { rowsIn } from './rows.ts'

/** What is used of a transaction of knex on Postgres. */
export interface KnexTransaction {
  raw(sql: string, bindings: readonly unknown[]): PromiseLike<unknown>
}

/** For `{ tx }`, inside `knex.transaction(async (trx) => …)`: `{ tx: fromKnex(trx) }`. */
export const fromKnex = (trx: KnexTransaction): Transaction => ({
  async query(text, values) {
    const { between, order } = placeholders(text)
    const sql = between.map((part) => part.replaceAll('?', '\\?')).join('?')
    const bindings = order.map((n) => values[n])
    return { rows: rowsIn(await trx.raw(sql, bindings)) }
  },
})
