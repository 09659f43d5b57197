/**
 * A Postgres store in which every claim of untouched jobs is a bundle, of a single job too: what is proved of stores is
 * proved of bundles. In earnest few jobs have leases at once.
 */
import pg from 'pg'
import { openPostgresStore } from '../../src/store/postgres/postgres.ts'

const THRESHOLD = 'cardinality(ids) >= 16'

export async function bundleAll(url: string): Promise<void> {
  await (await openPostgresStore({ url, migrate: true })).close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ text: string }>(`select pg_get_functiondef('pawl.claim'::regproc) as text`)
    const parts = rows[0]?.text.split(THRESHOLD) ?? []
    if (parts.length !== 2) throw new Error(`pawl.claim decides by something else than "${THRESHOLD}" now`)
    await client.query(parts.join('cardinality(ids) >= 1'))
  } finally {
    await client.end()
  }
}
