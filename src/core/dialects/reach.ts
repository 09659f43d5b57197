/** How far a job has come in its generation, from its record or, event by event, from its history. */
import type { Event } from '../event.ts'
import { isOwnedState, isTerminal, type Job, type State } from '../job.ts'
import type { Reach } from './dialect.ts'

export const reachOf = (job: Job): Reach => reach(trailOf(job))

/** What decides the reach. A record keeps all of it, so view and history cannot disagree. */
export interface Trail {
  readonly owned: boolean
  readonly generation: number
  /** Generation of the last claim that was given up or lost. */
  readonly left: number | undefined
  /** The current or last attempt had started; and one of those before it, in its generation. */
  readonly started: boolean
  readonly ran: boolean
}

export const trailOf = (job: Job): Trail => ({
  owned: job.lease !== undefined,
  generation: job.generation,
  left: job.lastClaim === undefined ? undefined : generationOf(job.lastClaim.fence),
  started: job.startedAt !== undefined,
  ran: job.lastClaim?.ran === true,
})

export function reach({ owned, generation, left, started, ran }: Trail): Reach {
  if (!owned && left !== generation) return 'new'
  return started ? 'ran' : ran ? 'again' : 'first'
}

/** As much of an event as tells where a history begins. */
export type Beginning = Pick<Event, 'from' | 'state' | 'attempt' | 'generation'> & { readonly type: string }

/** The trail before a history whose beginning may be missing: a job that has been claimed is taken to have run. */
export function trailBefore(event: Beginning): Trail {
  const state = event.from ?? event.state
  const owned = isOwnedState(state)
  const attempt = event.type === 'claimed' ? event.attempt - 1 : event.attempt
  const generation = event.type === 'reopened' ? event.generation - 1 : event.generation
  const claimedBefore = attempt > (owned ? 1 : 0)
  return {
    owned,
    generation,
    left: claimedBefore ? generation : undefined,
    started: attempt > 0 && state !== 'claimed',
    ran: claimedBefore,
  }
}

/** As much of an event as the trail depends on. */
export type Waypoint = Pick<Event, 'to' | 'generation'>

export function trailAfter(trail: Trail, { to, generation }: Waypoint): Trail {
  if (to === undefined) return trail
  const owned = isOwnedState(to)
  const left = trail.owned && !owned
  return {
    owned,
    generation,
    left: left ? trail.generation : trail.left,
    started: to === 'running' || (to === 'claimed' ? false : trail.started),
    ran: generation === trail.generation && (trail.ran || (left && trail.started)),
  }
}

const generationOf = (fence: string): number => Number.parseInt(fence, 10)

/** Which reaches a job can have in a state, and which it can have after an event from there. */
export function reachesIn(state: State | 'none'): readonly Reach[] {
  if (state === 'none' || state === 'pending') return ['new']
  if (state === 'claimed') return ['first', 'again']
  if (state === 'running' || state === 'waiting' || state === 'parked' || state === 'succeeded') return ['ran']
  return state === 'stalled' || state === 'retrying' ? ['first', 'again', 'ran'] : ['new', 'first', 'again', 'ran']
}

export function reachesAfter(before: Reach, from: State | 'none', to: State): readonly Reach[] {
  if (to === 'claimed') return [before === 'new' || before === 'first' ? 'first' : 'again']
  if (to === 'running') return ['ran']
  return [from === 'none' || isTerminal(from) ? 'new' : before]
}
