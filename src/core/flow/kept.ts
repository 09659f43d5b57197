/** Whether a key's record is what the changes that are kept with it come to. */
import { KEY_LOG_MOST } from './document.ts'
import type { KeyEvent } from './event.ts'
import { evolveKey } from './evolve.ts'
import { atRest, type KeyRecord } from './key.ts'

/** What is counted between two changes that are told stands in no kept event. */
const COUNTED = ['strikes', 'struckAt', 'good', 'heardAt', 'rev'] as const

/**
 * The record as its kept changes make it, as far as they say: what is older than all of them is taken from the record itself, and so
 * is what is only counted.
 */
export function foldOfKept(record: KeyRecord, kept: readonly KeyEvent[]): KeyRecord {
  const [first] = kept
  if (first === undefined) return record
  let key = kept.length < KEY_LOG_MOST ? atRest(record.key) : begunAt(record, first)
  for (const event of kept) key = evolveKey({ ...key, rev: event.rev - 1 }, event)
  return { ...key, ...Object.fromEntries(COUNTED.map((name) => [name, record[name]])) }
}

/**
 * Where the first of them begins: in the state that it says, and with a cool-down that is over, under way or none, as it says. Which of
 * them stands on the record where none of those that follow has changed it.
 */
function begunAt(record: KeyRecord, { type, from, at }: KeyEvent): KeyRecord {
  if (from === 'probing') return { ...record, state: 'broken', until: Math.min(record.until, at) }
  // Time turns it when its cool-down is over, to the millisecond.
  if (type === 'probing') return { ...record, state: from, until: at }
  return { ...record, state: from, until: from === 'broken' ? Math.max(record.until, at + 1) : 0 }
}
