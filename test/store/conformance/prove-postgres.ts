import { afterAll } from 'vitest'
import type { Subject } from '../../../src/store/conformance/conformance.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { openTransaction } from './open-transaction.ts'
import { prove } from './prove.ts'
import { RealSeats } from './real-clock.ts'

export interface PostgresSubject extends Pick<Subject, 'name' | 'cannot'> {
  readonly url: string
  /** When everything is proved: takes away what the database stands on. */
  readonly close: () => Promise<void>
}

/** The suite on a Postgres database, however it is reached. */
export function provePostgres({ url, close, ...subject }: PostgresSubject): void {
  const seats = new RealSeats({
    open: async () => openPostgresStore({ url, migrate: true }),
    transaction: () => openTransaction(url),
  })
  afterAll(async () => {
    await seats[Symbol.asyncDispose]()
    await close()
  })
  prove({ ...subject, open: seats.open })
}
