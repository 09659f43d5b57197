import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

const database = await freshDatabase()
const { url } = database
const seats = new RealSeats({
  open: async () => openPostgresStore({ url, migrate: true }),
  transaction: () => openTransaction(url),
})

afterAll(async () => {
  await seats[Symbol.asyncDispose]()
  await database.drop()
})

prove({ name: 'postgres', open: seats.open })
