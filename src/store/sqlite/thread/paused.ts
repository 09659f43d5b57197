import { original } from '../../codec/text.ts'
import { queueKey } from '../../store.ts'
import { one } from './rows.ts'
import type { ReadStatements } from './statements.ts'

/** Whether the document of a queue says so. Names as they are stored. */
export function isPaused(sql: ReadStatements, tenant: string, queue: string): boolean {
  const [, , , text] = one(sql.setting, 'queue', queueKey(original(tenant), original(queue))) ?? []
  if (typeof text !== 'string') return false
  try {
    const document: unknown = JSON.parse(text)
    return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
  } catch {
    return false
  }
}
