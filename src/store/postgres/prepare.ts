/**
 * The schema before a store is opened on it: brought up to date if asked, or refused with the command to run. One that is
 * newer than this code is what a rolling deployment looks like from an older process, and is told to the log.
 */
import pg from 'pg'
import type { Log } from '../../system/log.ts'
import { type Ask, migrate, migrationStatus } from './migrate.ts'

export async function prepareSchema(url: string, schema: string, mayMigrate: boolean, log: Log): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    // Also a connection that does not come about is ended: the server would keep it open for a minute.
    await client.connect()
    const ask: Ask = async (text, values = []) =>
      (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows
    const [begins] = await ask('show default_transaction_isolation')
    if (begins?.[0] !== 'read committed') {
      throw new Error(
        `pawl: transactions begin as "${begins?.[0]}" here; what pawl does under a lock must see what was committed before. Run: alter role ${client.user} set default_transaction_isolation = 'read committed'`,
      )
    }
    const { pending, newer, tooNew } = await migrationStatus(ask, schema)
    if (tooNew.length > 0) {
      throw new Error(
        `pawl: schema "${schema}" is too new for this version of pawl, which does not know ${tooNew.join(', ')} and cannot go on after it. Run the version that migrated it, or a later one.`,
      )
    }
    if (newer.length > 0) {
      log.warn('the schema is newer than this version of pawl, which goes on; roll the newer version out', {
        schema,
        newer: newer.join(', '),
      })
    }
    if (pending.length === 0) return
    if (!mayMigrate) {
      throw new Error(
        `pawl: schema "${schema}" lacks ${pending.join(', ')}. Run \`pawl migrate\` with this database, or open it with { migrate: true }.`,
      )
    }
    await migrate(client, schema)
  } finally {
    await client.end().catch(() => {})
  }
}
