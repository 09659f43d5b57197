import { SqliteStoreError } from './channel.ts'
import { Unstorable } from './encode.ts'

export interface Rejected {
  readonly status: 'rejected'
  readonly field: string
  readonly rule: string
}

/** An item that cannot be put into a row is rejected alone, whatever the reason; only an error of the thread fails the call. */
export function rejected(error: unknown): Rejected {
  if (error instanceof Unstorable) return { status: 'rejected', field: error.field, rule: error.rule }
  if (error instanceof SqliteStoreError || !(error instanceof Error)) throw error
  return { status: 'rejected', field: 'job', rule: error.message }
}
