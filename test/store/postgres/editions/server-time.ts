/**
 * A Postgres whose clock is whatever it is set to, and stands still between: then all that is written and answered is the
 * same whenever it is asked for, but for the numbers of transactions.
 */
import type pg from 'pg'

export const BEGINNING = 1_500_000_000_000

export async function keepServerTime(client: pg.Client): Promise<void> {
  await client.query(`
    create sequence if not exists pawl.set_to start ${BEGINNING};
    create or replace function pawl.server_ms() returns bigint language sql volatile as
    $$ select pg_sequence_last_value('pawl.set_to') $$;
  `)
}

export async function setServerTime(client: pg.Client, ms: number): Promise<void> {
  await client.query(`select setval('pawl.set_to', $1)`, [ms])
}
