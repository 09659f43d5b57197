import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { bundleAll } from '../../support/all-bundled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

const database = await freshDatabase()
const { url } = database
await bundleAll(url)
const seats = new RealSeats({
  open: async () => openPostgresStore({ url }),
  transaction: () => openTransaction(url),
})

afterAll(async () => {
  await seats[Symbol.asyncDispose]()
  await database.drop()
})

prove({ name: 'postgres+bundles', open: seats.open })
