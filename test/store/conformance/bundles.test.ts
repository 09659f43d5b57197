import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { bundleAll } from '../../support/all-bundled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { settableClock } from '../../support/settable-clock.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

const database = await freshDatabase()
const { url } = database
await bundleAll(url)
const clock = await settableClock(url)
const seats = new RealSeats({
  open: async () => openPostgresStore({ url }),
  transaction: () => openTransaction(url),
  setClock: (byMs) => clock.set(byMs),
})

afterAll(async () => {
  await seats[Symbol.asyncDispose]()
  await clock[Symbol.asyncDispose]()
  await database.drop()
})

prove({ name: 'postgres+bundles', open: seats.open })
