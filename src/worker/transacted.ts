/** Work in a transaction, again where the database says that it must be: whoever asks for a strict isolation must expect that. */
import { PermanentError } from '../core/thrown.ts'
import type { Transaction } from '../store/store.ts'
import type { Desk } from './desk.ts'
import { readThrown } from './thrown-value.ts'

/** Of a transaction that others are in the way of. After that it is the job's attempt that is tried again. */
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
