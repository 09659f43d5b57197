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
const ENDED = 'ended '
const WAIT = 'wait '

export const changeKey = (event: EventType, from: State | undefined, to: State): string =>
  `${CHANGE}${event} ${from ?? 'none'} ${to}`

export const failureKey = (code: string): string => FAILURE + code

/** What has ended in a queue. */
export const endedKey = (queue: string): string => ENDED + queue

/** Codes, and queues, beyond those that are counted by name. */
export const OTHER_FAILURES = failureKey('other')
export const OTHER_QUEUES = endedKey('other')

/** Waits are counted by their length, each class half as long again as the one before it: 64 of them reach from a millisecond to weeks. */
const CLASS = 1.5
const CLASSES_MOST = 64

export const waitKey = (ms: number): string =>
  WAIT + Math.min(CLASSES_MOST, Math.ceil(Math.log(Math.max(1, ms)) / Math.log(CLASS)))

export function changeIn(key: string): Change | undefined {
  if (!key.startsWith(CHANGE)) return undefined
  const [event, from, to] = key.slice(CHANGE.length).split(' ') as [EventType, State | 'none', State]
  return { event, from, to }
}

export const codeIn = (key: string): string | undefined =>
  key.startsWith(FAILURE) ? key.slice(FAILURE.length) : undefined

export const queueIn = (key: string): string | undefined =>
  key.startsWith(ENDED) ? key.slice(ENDED.length) : undefined

/** The longest of its class, in milliseconds. */
export const waitIn = (key: string): number | undefined =>
  key.startsWith(WAIT) ? Math.round(CLASS ** Number(key.slice(WAIT.length))) : undefined

/** Where a name that users have made up is counted together with others; undefined for names that are ours. */
export const othersOf = (key: string): string | undefined =>
  key.startsWith(FAILURE) ? OTHER_FAILURES : key.startsWith(ENDED) ? OTHER_QUEUES : undefined
