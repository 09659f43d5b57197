/**
 * Document 002 as one table: what each word comes to about a job in each of its states. An arrow of the diagram leads to a state; `=` is the
 * same state said again, which is allowed and changes nothing; all else is refused, with this code.
 */
export const EVERY_STATE = [
  'PENDING',
  'SCHEDULED',
  'DISPATCHED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'DENIED',
  'TIMEOUT',
] as const
export type State = (typeof EVERY_STATE)[number]

/** `accepted` is the request once more, `other` another request under its id; a status is that of a JobResult. */
export const EVERY_WORD = [
  'accepted',
  'other',
  'scheduled',
  'denied',
  'running',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'DENIED',
  'TIMEOUT',
  'cancelled',
] as const
export type Word = (typeof EVERY_WORD)[number]

type Outcome = State | '=' | 'ID_TAKEN' | 'ILLEGAL_TRANSITION' | 'ENDED' | 'STALE_FENCE'
type Row = Readonly<Record<Word, Outcome>>

/** Whoever has not been given the job, or has it no longer, says nothing about it. */
const UNOWNED = {
  running: 'STALE_FENCE',
  SUCCEEDED: 'STALE_FENCE',
  FAILED: 'STALE_FENCE',
  CANCELLED: 'STALE_FENCE',
  DENIED: 'STALE_FENCE',
  TIMEOUT: 'STALE_FENCE',
} as const
/** A request under the same id is the same job in whichever state that is, or another's. */
const REQUEST = { accepted: '=', other: 'ID_TAKEN' } as const
/** A worker ends what it has. What it rejects by a policy of its own has failed: DENIED follows SCHEDULED only. */
const OWNED = {
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
  DENIED: 'FAILED',
  TIMEOUT: 'TIMEOUT',
  cancelled: 'CANCELLED',
} as const
const BACKWARDS = { scheduled: 'ILLEGAL_TRANSITION', denied: 'ILLEGAL_TRANSITION' } as const
const OVER = { ...REQUEST, ...UNOWNED, scheduled: 'ENDED', denied: 'ENDED', cancelled: 'ENDED' } as const

export const COMES_TO: Readonly<Record<State, Row>> = {
  PENDING: { ...REQUEST, ...UNOWNED, scheduled: 'SCHEDULED', denied: 'DENIED', cancelled: 'CANCELLED' },
  SCHEDULED: { ...REQUEST, ...UNOWNED, scheduled: '=', denied: 'DENIED', cancelled: 'CANCELLED' },
  DISPATCHED: { ...REQUEST, ...OWNED, ...BACKWARDS, running: 'RUNNING' },
  RUNNING: { ...REQUEST, ...OWNED, ...BACKWARDS, running: '=' },
  SUCCEEDED: { ...OVER, SUCCEEDED: '=' },
  FAILED: { ...OVER, FAILED: '=' },
  CANCELLED: { ...OVER, CANCELLED: '=', cancelled: '=' },
  DENIED: { ...OVER, denied: '=' },
  TIMEOUT: OVER,
}
