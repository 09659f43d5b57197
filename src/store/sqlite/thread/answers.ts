/** The answers of calls that failed, or came too late. */
import type { Time } from '../../../core/job.ts'
import type { Answer, Call } from '../protocol.ts'
import { damage } from './damage.ts'
import { isUnreadable } from './result-codes.ts'

export function tooLong({ n }: Call, now: Time, busyMs: number): Answer {
  const message = `pawl: another process kept the file locked for more than ${busyMs} ms. Nothing was changed; try again.`
  return { n, now, ok: false, code: 'STORE_BUSY', message }
}

export function failed({ n }: Call, now: Time, error: unknown, path: string): Answer {
  if (isUnreadable(error)) return { n, now, ok: false, code: 'STORE_DAMAGED', message: `pawl: ${damage(path, error)}` }
  const message = error instanceof Error ? error.message : String(error)
  return { n, now, ok: false, code: 'STORE_FAILED', message }
}
