/** Colour belongs to states: each is of one of seven families. */
import type { State } from '../api/wire.ts'

export type Family = 'idle' | 'work' | 'wait' | 'again' | 'good' | 'bad' | 'closed'

export const FAMILY: Readonly<Record<State, Family>> = {
  pending: 'idle',
  queued: 'idle',
  claimed: 'work',
  running: 'work',
  waiting: 'wait',
  parked: 'wait',
  retrying: 'again',
  stalled: 'again',
  succeeded: 'good',
  failed: 'bad',
  timed_out: 'bad',
  dead_lettered: 'bad',
  cancelled: 'closed',
  denied: 'closed',
}
