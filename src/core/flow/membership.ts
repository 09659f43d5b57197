/** What a job has to do with flows: which one it waits in, and what a commit makes of its slots. */
import type { Job, JobFlow, LiveState, Spec } from '../job.ts'
import { blamedKey } from './signal.ts'

/**
 * Jobs of one flow are stopped by exactly the same things: so whatever can stop them is in its name. Undefined: the job is
 * nobody's but its lane's.
 */
export function flowNameOf({ spec, priority, needs }: Job): string | undefined {
  if (spec.flow === undefined) return undefined
  const { tenant, queue } = spec.kind
  const { keys, fair } = spec.flow
  return JSON.stringify([tenant, queue, priority, needs ?? null, fair ?? null, ...keys])
}

/** Whose weight a flow has: that of the customer it is, else of its first key. A name that nobody set a weight for has 1. */
export const weighedBy = ({ keys, fair }: JobFlow): string | undefined => fair ?? keys[0]

/** The key that hears how an attempt ended; `named`: by the error. */
export function toldKey({ flow, kind }: Spec, named?: string | undefined): string | undefined {
  const declared = kind.policy.limits ?? []
  const keys = (flow?.keys ?? []).map((key, i) => ({ key, adaptive: declared[i]?.adaptive === true }))
  return blamedKey(keys, named)
}

/**
 * What a commit does with a job's place:
 *   hold   it is held from now on, in the flow of `after`, and has no slots;
 *   own    somebody owns it: it has its slots, and where it had none it takes them, whether there is room or not;
 *   leave  it is neither held nor does it have slots;
 *   stay   nothing changes.
 */
export type PlaceMove = 'hold' | 'own' | 'leave' | 'stay'

/** Undefined: it was not there before, or is gone. */
export function placeMoveOf(before: Job | undefined, after: Job | undefined): PlaceMove {
  const was = presenceOf(before)
  const is = presenceOf(after)
  if (is === 'owned') return was === 'owned' ? 'stay' : 'own'
  if (is === 'away') return was === 'away' ? 'stay' : 'leave'
  return was === 'ready' && keepsPlace(before, after) ? 'stay' : 'hold'
}

/** Whether somebody owns a job, may have it some day, or neither. Of a ready one with a flow only its store knows whether it stands. */
export function presenceOf(job: Job | undefined): 'owned' | 'ready' | 'away' {
  if (job?.lease !== undefined) return 'owned'
  return job?.readyAt === undefined ? 'away' : 'ready'
}

/** States in which a live job may be neither ready nor owned: then no slot, and nobody who is held, tells of the keys it will need. */
export const AWAY_STATES = ['pending', 'waiting', 'parked', 'stalled'] as const satisfies readonly LiveState[]

/** A word about a job that stands, which changes neither when nor with whom it waits, does not take it out of its lane. */
const keepsPlace = (before: Job | undefined, after: Job | undefined): boolean =>
  before !== undefined &&
  after !== undefined &&
  before.readyAt === after.readyAt &&
  before.priority === after.priority &&
  before.needs === after.needs
