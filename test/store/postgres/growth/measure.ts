/** What a call takes, by the server's own counters: they see through functions, and none of them is a time. */
import type pg from 'pg'

export interface Taken {
  /** Read by the whole call, the planning of what is in its functions included. */
  readonly pages: number
  /** Descents of an index: look-ups, and those of new rows. */
  readonly probes: number
  readonly rows: number
  /** Tables that were walked from their beginning. */
  readonly walked: readonly string[]
  /** Functions of ours that were called. */
  readonly functions: readonly string[]
}

interface Counter {
  readonly name: string
  readonly walks: number
  readonly probes: number
  readonly rows: number
}

/** In a transaction that is taken back, so that the same can be asked again. */
export async function taken(client: pg.Client, text: string, values: readonly unknown[]): Promise<Taken> {
  await client.query('begin')
  try {
    const before = await counters(client)
    const pages = await pagesOf(client, text, values)
    const after = await counters(client)
    const { rows: called } = await client.query<{ name: string }>(
      `select funcname as name from pg_stat_xact_user_functions where schemaname = 'pawl'`,
    )
    const more = (of: 'walks' | 'probes' | 'rows', i: number) => (after[i]?.[of] ?? 0) - (before[i]?.[of] ?? 0)
    const sum = (of: 'probes' | 'rows') => after.reduce((total, _, i) => total + more(of, i), 0)
    return {
      pages,
      probes: sum('probes'),
      rows: sum('rows'),
      walked: after.filter((_, i) => more('walks', i) > 0).map(({ name }) => name),
      functions: called.map(({ name }) => name),
    }
  } finally {
    await client.query('rollback')
    // What a session holds is not taken back with its transaction: the lock of its channel.
    await client.query('select pg_advisory_unlock_all()')
  }
}

async function pagesOf(client: pg.Client, text: string, values: readonly unknown[]): Promise<number> {
  // The one statement that has no plan.
  if (text.startsWith('lock table')) {
    await client.query(text)
    return 0
  }
  const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, [...values])
  const plan = rows[0]['QUERY PLAN'][0].Plan
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

async function counters(client: pg.Client): Promise<readonly Counter[]> {
  const { rows } = await client.query<Record<keyof Counter, string>>(`
    select t.relname as name, t.seq_scan as walks, coalesce(t.seq_tup_read, 0) + coalesce(t.idx_tup_fetch, 0) as rows,
      coalesce(t.idx_scan, 0) + (t.n_tup_ins + t.n_tup_upd - t.n_tup_hot_upd)
        * (select count(*) from pg_index i where i.indrelid = t.relid) as probes
    from pg_stat_xact_user_tables t where t.schemaname = 'pawl' order by t.relname`)
  return rows.map((row) => ({
    name: row.name,
    walks: Number(row.walks),
    probes: Number(row.probes),
    rows: Number(row.rows),
  }))
}
