import { afterAll } from 'vitest'
import type { Subject } from '../../../src/store/conformance/conformance.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { settableClock } from '../../support/settable-clock.ts'
import { openTransaction } from './open-transaction.ts'
import { prove, type Repeated } from './prove.ts'
import { RealSetups } from './real-clock.ts'

export interface PostgresSubject extends Pick<Subject, 'name' | 'cannot'> {
  readonly url: string
  /** Past whoever is in between: for setting the clock. `url` unless told. */
  readonly directUrl?: string
  readonly repeated?: Repeated
  /** When everything is proved: takes away what the database stands on. */
  readonly close: () => Promise<void>
}

/** The suite on a Postgres database, however it is reached. */
export async function provePostgres({
  url,
  directUrl = url,
  repeated,
  close,
  ...subject
}: PostgresSubject): Promise<void> {
  const clock = await settableClock(directUrl)
  const setups = new RealSetups({
    open: async () => openPostgresStore({ url }),
    transaction: () => openTransaction(url),
    setClock: (byMs) => clock.set(byMs),
  })
  afterAll(async () => {
    await setups[Symbol.asyncDispose]()
    await clock[Symbol.asyncDispose]()
    await close()
  })
  prove({ ...subject, open: setups.open }, repeated)
}
