/**
 * A Postgres store in which every claim of untouched jobs is a bundle, of a single job too: what is proved of stores is
 * proved of bundles. In earnest few jobs have leases at once.
 */
import pg from 'pg'

export async function bundleAll(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name')
    await client.query(`alter database ${rows[0]?.name} set pawl_bundle.least = 1`)
  } finally {
    await client.end()
  }
}
