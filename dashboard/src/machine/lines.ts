/**
 * Which drawn line stands for which change of the table. The table is the gateway's and comes over HTTP; where the lines run is
 * the drawing's. A change that has no line here is a mistake: a test walks over all of them.
 */
import type { Change } from '../api/wire.ts'

export const LINES = [
  'enter',
  'enter-pending',
  'admit',
  'deny',
  'claim',
  'start',
  'succeed',
  'release',
  'release-claimed',
  'retry',
  'claim-retrying',
  'lose',
  'lose-claimed',
  'claim-stalled',
  'retry-stalled',
  'requeue',
  'wait',
  'park',
  'wake',
  'wake-parked',
  'fail',
  'bury',
  'expire',
  'cancel',
  'reopen',
] as const
export type LineName = (typeof LINES)[number]

/** By event; where that is not enough, by the state it happens in. */
const BY_EVENT: Readonly<Record<string, LineName | Readonly<Record<string, LineName>>>> = {
  admitted: 'admit',
  denied: 'deny',
  claimed: { queued: 'claim', retrying: 'claim-retrying', stalled: 'claim-stalled' },
  started: 'start',
  succeeded: 'succeed',
  released: { running: 'release', claimed: 'release-claimed' },
  retry_scheduled: { running: 'retry', stalled: 'retry-stalled' },
  stalled: { running: 'lose', claimed: 'lose-claimed' },
  requeued: 'requeue',
  waiting: 'wait',
  parked: 'park',
  signalled: { waiting: 'wake', parked: 'wake-parked' },
  wait_timed_out: { waiting: 'wake', parked: 'wake-parked' },
  failed: 'fail',
  dead_lettered: 'bury',
  timed_out: 'expire',
  cancelled: 'cancel',
  reopened: 'reopen',
  // To undo what was done a job goes back the way that its state has.
  compensating: {
    running: 'release',
    claimed: 'release-claimed',
    stalled: 'requeue',
    pending: 'admit',
    waiting: 'wake',
    parked: 'wake-parked',
  },
}

/** Undefined for the one change that is told in a panel only: a retrying job that begins to undo. */
export function lineOf({ event, from, to }: Change): LineName | undefined {
  if (event === 'enqueued') return to === 'pending' ? 'enter-pending' : 'enter'
  const found = BY_EVENT[event]
  return typeof found === 'object' ? found[from] : found
}
