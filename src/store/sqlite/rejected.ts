import { type Rejected, rejected as rejectedAlone } from '../codec/unstorable.ts'
import { SqliteStoreError } from './channel.ts'

/** An item that cannot be put into a row is rejected alone; only an error of the thread fails the call. */
export function rejected(error: unknown): Rejected {
  if (error instanceof SqliteStoreError) throw error
  return rejectedAlone(error)
}
