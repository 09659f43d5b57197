/** An application with a table of its own beside pawl's. */
import pg from 'pg'
import type { Pawl } from '../../src/index.ts'
import { openAt, PLACES } from '../engine/opened.ts'

export interface Shop extends AsyncDisposable {
  readonly url: string
  readonly pawl: Pawl
  /** Ids of what was ordered, for good. */
  ordered(): Promise<readonly number[]>
  /** Forgets all orders. */
  empty(): Promise<unknown>
  /** How long the longest of the transactions that do nothing just now has been open. */
  openForMs(): Promise<number>
}

export async function openShop(): Promise<Shop> {
  const place = await PLACES.postgres()
  const pawl = await openAt(place)
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  await client.query('create table orders (id int primary key)')
  return {
    url: place.url,
    pawl,
    ordered: async () =>
      (await client.query<{ id: number }>('select id from orders order by id')).rows.map(({ id }) => id),
    empty: () => client.query('truncate orders'),
    async openForMs() {
      const { rows } = await client.query<{ ms: number | null }>(
        `select extract(epoch from max(clock_timestamp() - xact_start))::float8 * 1000 as ms
         from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      )
      return rows[0]?.ms ?? 0
    },
    async [Symbol.asyncDispose]() {
      await client.end()
      await pawl.close()
      await place[Symbol.asyncDispose]()
    },
  }
}
