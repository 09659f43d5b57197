/** All that is known of a key, as the text that a store keeps for it. What is absent is at rest, or was not said. */
import { isTold, type KeyEvent } from './event.ts'
import { type Gate, gateOf } from './gate.ts'
import { atRest, type KeyRecord, type Limit } from './key.ts'

export interface KeyDocument {
  /** What the job type says in code. */
  readonly declared: Limit | undefined
  /** What somebody set by hand: each number of it wins until it is removed. */
  readonly byHand: Limit | undefined
  readonly record: KeyRecord
}

/** How many changes of a key are kept with it. */
export const KEY_LOG_MOST = 100

/** Number by number: who sets one by hand leaves the others as code has them. */
export const limitIn = ({ declared, byHand }: Pick<KeyDocument, 'declared' | 'byHand'>): Limit => ({
  ...declared,
  ...byHand,
})

export const gateIn = (document: KeyDocument): Gate => gateOf(document.record, limitIn(document))

export function encodeKey({ declared, byHand, record }: KeyDocument): string {
  const { key: _, ...rest } = record
  return JSON.stringify({ declared, byHand, record: record.rev === 0 ? undefined : rest })
}

export function decodeKey(key: string, text: string): KeyDocument {
  const { declared, byHand, record } = JSON.parse(text) as Partial<KeyDocument>
  return { declared, byHand, record: { ...atRest(key), ...record } }
}

/** The log with what is to be told of these events; undefined where that is nothing. */
export function encodeKeyLog(log: string | undefined, events: readonly KeyEvent[]): string | undefined {
  const told = events.filter(isTold)
  return told.length === 0 ? undefined : JSON.stringify([...decodeKeyLog(log), ...told].slice(-KEY_LOG_MOST))
}

export const decodeKeyLog = (log: string | undefined): readonly KeyEvent[] =>
  log === undefined ? [] : (JSON.parse(log) as readonly KeyEvent[])
