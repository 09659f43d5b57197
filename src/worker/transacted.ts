/** Work in a transaction, run again where the database could not serialise it: a handler that asks for a strict isolation must expect that. */
import { PermanentError } from '../core/thrown.ts'
import type { Transaction } from '../store/store.ts'
import type { Desk } from './desk.ts'
import { readThrown } from './thrown-value.ts'

/** Tries of a transaction that conflicts with others. After that the job's attempt fails, and is tried again. */
const TX_TRIES = 5

/** `undone`: nothing of it was done. `guard` throws where there is no sense in another try. */
export async function transacted<T>(
  transaction: Desk['transaction'],
  work: (tx: Transaction) => Promise<T>,
  undone: () => void,
  guard: () => void,
): Promise<T> {
  if (transaction === undefined) throw new PermanentError('ctx.tx needs a store with transactions: Postgres.')
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(work)
    } catch (error) {
      undone()
      if (tries === TX_TRIES || !mustBeRunAgain(error)) throw error
      guard()
    }
  }
}

/** A serialization failure, or a deadlock: nothing of it was done. */
function mustBeRunAgain(error: unknown): boolean {
  const { code } = readThrown(error)
  return code === '40001' || code === '40P01'
}
