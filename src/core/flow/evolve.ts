/** The fold of a key: what its record becomes when an event is applied to it. */
import { assert, unreachable } from '../assert.ts'
import type { KeyEvent } from './event.ts'
import { type KeyRecord, keyStateAt } from './key.ts'

export function evolveKey(key: KeyRecord, event: KeyEvent): KeyRecord {
  assert(event.rev === key.rev + 1, 'events of a key are applied in order, each once')
  // Time turns it in the very millisecond in which it is something else.
  const from = event.type === 'probing' ? key.state : keyStateAt(key, event.at)
  assert(event.from === from, 'an event begins where the key is')
  const next = { ...key, ...changed(key, event), state: event.to, rev: event.rev }
  return isOfItsState(event) ? { ...next, cause: event.cause } : next
}

/** Not of what is counted meanwhile, or set for it, or of time: the cause is that of the state it is in. */
const isOfItsState = ({ type }: KeyEvent): boolean => type !== 'counted' && type !== 'limited' && type !== 'probing'

const NO_COUNTS = { good: 0, strikes: 0, struckAt: 0 } as const
const OPEN = { ...NO_COUNTS, allowed: 0, target: 0, level: 0, until: 0, stepAt: 0, base: 0 } as const

function changed(key: KeyRecord, event: KeyEvent): Partial<KeyRecord> {
  const { at } = event
  switch (event.type) {
    case 'slowed': {
      const { allowed, level, session, base } = event.payload
      // From the next millisecond on: what was claimed in this one ran under the session that was just given up.
      const fresh = { freshFrom: at + 1, stepAt: at, since: key.state === 'slow' ? key.since : at }
      return { ...NO_COUNTS, ...fresh, allowed, target: allowed, level, session, base }
    }
    case 'broken': {
      const { until, target, level, session, base } = event.payload
      return { ...NO_COUNTS, until, freshFrom: until, allowed: 1, target, level, session, base, since: at }
    }
    case 'prolonged':
      return { until: event.payload.until, freshFrom: event.payload.until }
    case 'probing':
      return {}
    case 'recovering':
      return { ...NO_COUNTS, allowed: 1, until: 0, stepAt: at, since: at }
    case 'raised':
      return { ...NO_COUNTS, allowed: event.payload.allowed, stepAt: at }
    case 'opened':
      return { ...OPEN, since: at }
    case 'limited':
      return { allowed: event.payload.allowed }
    case 'reset':
      return { ...OPEN, freshFrom: at + 1, since: at }
    case 'hastened':
      // As with any new beginning: not what was claimed in this very millisecond, under another session.
      return { until: at + 1, freshFrom: at + 1 }
    case 'counted':
      return event.payload
    default:
      return unreachable(event)
  }
}
