import { pgbouncerMissing } from '../../support/debian.ts'
import { startPgbouncer } from '../../support/pgbouncer.ts'
import { itPooled } from '../../support/pooled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { provePostgres } from './prove-postgres.ts'

if (pgbouncerMissing() === undefined) await proveThroughPgbouncer()
else itPooled('postgres+pgbouncer', () => {})

async function proveThroughPgbouncer(): Promise<void> {
  const database = await freshDatabase()
  const pooler = await startPgbouncer(database.url)
  await provePostgres({
    name: 'postgres+pgbouncer',
    cannot: {
      hints: 'a pooler in transaction mode gives nobody a session to listen in; polling is the truth',
    },
    repeated: ELSEWHERE,
    url: pooler.url,
    directUrl: database.url,
    close: async () => {
      await pooler.stop()
      await database.drop()
    },
  })
}
