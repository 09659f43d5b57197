import { afterAll } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { otherMajors } from '../../support/embedded-postgres.ts'
import { startPostgres } from '../../support/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

/** The same promises on older versions: the oldest in the gate, all of them in soak. The newest is everybody else's. */
for (const { major, programs } of otherMajors()) {
  const server = await startPostgres({ programs })
  const { url } = server
  const seats = new RealSeats({
    open: async () => openPostgresStore({ url, migrate: true }),
    transaction: () => openTransaction(url),
  })

  afterAll(async () => {
    await seats[Symbol.asyncDispose]()
    await server.stop()
  })

  prove({ name: `postgres+${major}`, open: seats.open })
}
