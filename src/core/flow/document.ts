/** All that is known of a key, as the text that a store keeps for it. What is absent is at rest, or was not said. */
import { isTold, type KeyEvent } from './event.ts'
import { type Gate, gateOf } from './gate.ts'
import { atRest, type KeyRecord, type Limit } from './key.ts'

export interface KeyDocument {
  /** What a job type says in code. */
  readonly declared: Limit | undefined
  /** Which one: what another says of the key does not hold. Absent: none has said anything. */
  readonly declaredBy?: string | undefined
  /** What somebody set by hand: each number of it wins until it is removed. */
  readonly byHand: Limit | undefined
  readonly record: KeyRecord
  /** Attempts whose signals came behind the commits of their ends, all that may be told again: it counts once (`late.ts`). */
  readonly heardBehind?: readonly string[] | undefined
}

/** How many changes of a key are kept with it. */
export const KEY_LOG_MOST = 100

/** Number by number: who sets one by hand leaves the others as code has them. */
export const limitIn = ({ declared, byHand }: Pick<KeyDocument, 'declared' | 'byHand'>): Limit => ({
  ...declared,
  ...byHand,
})

export const gateIn = (document: KeyDocument): Gate => gateOf(document.record, limitIn(document))

/** By whose word a key has its numbers, where that is a rule of admission and no job type: no type has such a name. */
export const ruleName = (rule: string): string => `${RULE}${rule}`

const RULE = 'rule,'
const isRule = (declarer: string): boolean => declarer.startsWith(RULE)

/**
 * The document with what a job type, or a rule, declares by now; undefined where that is as before. Of several types that share a key
 * the first that had numbers for it has the word: else each would set those of the other back, whenever it enqueues. A rule stands
 * before every type: else whoever enqueues would be out of its reach by naming the key first, with numbers of their own.
 */
export function declaring(document: KeyDocument, type: string, declared: Limit): KeyDocument | undefined {
  const { declaredBy = type } = document
  const isFirst = declaredBy === type || (isRule(type) && !isRule(declaredBy))
  const mayDeclare = hasNumbers(document.declared) ? isFirst : hasNumbers(declared)
  if (!mayDeclare || JSON.stringify(document.declared) === JSON.stringify(declared)) return undefined
  return { ...document, declared, declaredBy: type }
}

const hasNumbers = ({ concurrency, rate, budget, weight }: Limit = {}): boolean =>
  [concurrency, rate, budget, weight].some((each) => each !== undefined)

export function encodeKey({ declared, declaredBy, byHand, record, heardBehind }: KeyDocument): string {
  const { key: _, ...rest } = record
  return JSON.stringify({ declared, declaredBy, byHand, record: record.rev === 0 ? undefined : rest, heardBehind })
}

/** Without a text nobody has said anything of the key. */
export function decodeKey(key: string, text: string): KeyDocument {
  const { declared, declaredBy, byHand, record, heardBehind } = (
    text === '' ? {} : JSON.parse(text)
  ) as Partial<KeyDocument>
  return { declared, declaredBy, byHand, record: { ...atRest(key), ...record }, ...(heardBehind && { heardBehind }) }
}

/** The log with what is to be told of these events; undefined where that is nothing. */
export function encodeKeyLog(log: string | undefined, events: readonly KeyEvent[]): string | undefined {
  const told = events.filter(isTold)
  return told.length === 0 ? undefined : JSON.stringify([...decodeKeyLog(log), ...told].slice(-KEY_LOG_MOST))
}

export const decodeKeyLog = (log: string | undefined): readonly KeyEvent[] =>
  log === undefined ? [] : (JSON.parse(log) as readonly KeyEvent[])
