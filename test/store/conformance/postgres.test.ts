import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { realSeat } from './real-clock.ts'

const database = await freshDatabase()
const { url } = database

afterAll(() => database.drop())

prove({
  name: 'postgres',
  open: () =>
    realSeat({
      open: async () => openPostgresStore({ url, migrate: true }),
      transaction: () => openTransaction(url),
    }),
})
