/** Document 003's `IsJobBlocked`: whether the last event about the status is a wait, which nobody may reclaim. */
import { deriveDialect } from './derive.ts'

export function isJobBlocked(log: unknown): boolean {
  const { status } = deriveDialect('003', log)
  return status === 'Waiting' || status === 'Parked'
}
