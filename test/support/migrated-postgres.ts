import { type FreshDatabase, freshDatabase } from './postgres.ts'

/**
 * A database of its own with pawl's schema in it, as `migrate: true` would have made it: copied from one that the run has made
 * once, which takes a fifth of the server's time. Not for what is said of migrations, of roles, or of plans for empty tables.
 */
export async function migratedDatabase(): Promise<FreshDatabase> {
  const servers = process.env['PAWL_TEST_SERVERS']
  if (servers === undefined) return freshDatabase()
  const answer = await fetch(`${servers}/migrated`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return freshDatabase(new URL(text).pathname.slice(1))
}

/** The one that is copied: nobody is connected to it from here on. */
export async function startTemplate(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { url, drop } = await freshDatabase()
  const { openPostgresStore } = await import('../../src/store/postgres/postgres.ts')
  await (await openPostgresStore({ url, migrate: true })).close()
  return { url, stop: drop }
}
