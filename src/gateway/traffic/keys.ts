/** The names that traffic is counted under, and what they say. */
import type { EventType } from '../../core/event.ts'
import type { State } from '../../core/job.ts'

export interface Change {
  readonly event: EventType
  /** `none` for a job that did not exist before. */
  readonly from: State | 'none'
  readonly to: State
}

const CHANGE = 'change '
const FAILURE = 'failure '

export const changeKey = (event: EventType, from: State | undefined, to: State): string =>
  `${CHANGE}${event} ${from ?? 'none'} ${to}`

export const failureKey = (code: string): string => FAILURE + code

/** Codes beyond those that are counted by name. */
export const OTHER_FAILURES = failureKey('other')

export function changeIn(key: string): Change | undefined {
  if (!key.startsWith(CHANGE)) return undefined
  const [event, from, to] = key.slice(CHANGE.length).split(' ') as [EventType, State | 'none', State]
  return { event, from, to }
}

export const codeIn = (key: string): string | undefined =>
  key.startsWith(FAILURE) ? key.slice(FAILURE.length) : undefined
