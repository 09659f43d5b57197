import { SqliteStoreError } from './channel.ts'
import { Unstorable } from './encode.ts'

export interface Rejected {
  readonly status: 'rejected'
  readonly field: string
  readonly rule: string
}

/** What cannot be put into a row is that item's own affair, whatever the reason; only the thread's trouble is everybody's. */
export function rejected(error: unknown): Rejected {
  if (error instanceof Unstorable) return { status: 'rejected', field: error.field, rule: error.rule }
  if (error instanceof SqliteStoreError || !(error instanceof Error)) throw error
  return { status: 'rejected', field: 'job', rule: error.message }
}
