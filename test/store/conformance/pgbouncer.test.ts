import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { startPgbouncer } from '../../support/pgbouncer.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { settableClock } from '../../support/settable-clock.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

const database = await freshDatabase()
const clock = await settableClock(database.url)
const pooler = await startPgbouncer(database.url)
const { url } = pooler
const seats = new RealSeats({
  open: async () => openPostgresStore({ url }),
  transaction: () => openTransaction(url),
  setClock: (byMs) => clock.set(byMs),
})

afterAll(async () => {
  await seats[Symbol.asyncDispose]()
  await clock[Symbol.asyncDispose]()
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
