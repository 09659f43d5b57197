import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { pgbouncerMissing } from '../../support/debian.ts'
import { startPgbouncer } from '../../support/pgbouncer.ts'
import { itPooled } from '../../support/pooled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

if (pgbouncerMissing() === undefined) await proveThroughPgbouncer()
else itPooled('postgres+pgbouncer', () => {})

async function proveThroughPgbouncer(): Promise<void> {
  const database = await freshDatabase()
  const pooler = await startPgbouncer(database.url)
  const { url } = pooler
  const seats = new RealSeats({
    open: async () => openPostgresStore({ url, migrate: true }),
    transaction: () => openTransaction(url),
  })

  afterAll(async () => {
    await seats[Symbol.asyncDispose]()
    await pooler.stop()
    await database.drop()
  })

  prove({
    name: 'postgres+pgbouncer',
    cannot: {
      hints: 'a pooler in transaction mode gives nobody a session to listen in; polling is the truth',
      standing: 'nobody who stands could be told',
    },
    open: seats.open,
  })
}
