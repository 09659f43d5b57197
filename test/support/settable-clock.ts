/**
 * A Postgres whose clock can be set, without setting the machine's: the function that reads the server's time reads a
 * number besides, which no transaction and no snapshot keeps from being seen at once.
 */
import pg from 'pg'
import { openPostgresStore } from '../../src/store/postgres/postgres.ts'

export interface SettableClock extends AsyncDisposable {
  set(byMs: number): Promise<void>
}

const LOWEST = -1_000_000_000_000

/** Brings the database up to date first. */
export async function settableClock(url: string): Promise<SettableClock> {
  await (await openPostgresStore({ url, migrate: true })).close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    create sequence if not exists pawl.set_by minvalue ${LOWEST} start 0;
    select setval('pawl.set_by', 0);
    create or replace function pawl.server_ms() returns bigint language sql volatile as
    $$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + pg_sequence_last_value('pawl.set_by') $$;
  `)
  return {
    async set(byMs) {
      await client.query(`select setval('pawl.set_by', pg_sequence_last_value('pawl.set_by') + $1)`, [byMs])
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
