/** Kysely: a statement that is compiled already. Plugins are left out: they are for the caller's rows, and may change ours. */
import type { Transaction } from '../store/store.ts'
import { rowsIn } from './rows.ts'

/** What is used of a transaction of Kysely on Postgres. */
export interface KyselyTransaction {
  withoutPlugins(): { executeQuery(query: KyselyQuery): Promise<unknown> }
}

/** A compiled query, as Kysely has it. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly never[]
  }
  readonly queryId: { readonly queryId: string }
}

/** For `{ tx }`, inside `db.transaction().execute(async (trx) => …)`: `{ tx: fromKysely(trx) }`. */
export const fromKysely = (trx: KyselyTransaction): Transaction => ({
  async query(sql, parameters) {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const
    const compiled = { sql, parameters, query, queryId: { queryId: 'pawl' } }
    return { rows: rowsIn(await trx.withoutPlugins().executeQuery(compiled)) }
  },
})
