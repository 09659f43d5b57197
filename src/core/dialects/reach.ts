/** How far a job has come in its generation, from its record or, event by event, from its history. */
import type { Event } from '../event.ts'
import { isTerminal, type Job, type State } from '../job.ts'
import type { Reach } from './dialect.ts'

export function reachOf(job: Job): Reach {
  return reach({
    owned: job.lease !== undefined,
    generation: job.generation,
    attempt: job.attempt,
    left: job.lastClaim === undefined ? undefined : generationOf(job.lastClaim.fence),
    started: job.startedAt !== undefined,
  })
}

/** What decides the reach. A record keeps all of it, so view and history cannot disagree. */
export interface Trail {
  readonly owned: boolean
  readonly generation: number
  readonly attempt: number
  /** Generation of the last claim that was given up or lost. */
  readonly left: number | undefined
  readonly started: boolean
}

export function reach({ owned, generation, attempt, left, started }: Trail): Reach {
  const before = left === generation
  if (!owned && !before) return 'new'
  if (started) return 'ran'
  // Whether an unstarted claim that is over was the first of a reopened job, the record does not say.
  return owned ? (before ? 'again' : 'first') : attempt > 1 ? 'again' : 'first'
}

/** The trail before a history whose beginning may be missing: a job that has been claimed is taken to have run. */
export function trailBefore(event: Event): Trail {
  const state = event.from ?? event.state
  const owned = isOwnedState(state)
  const attempt = event.type === 'claimed' ? event.attempt - 1 : event.attempt
  const generation = event.type === 'reopened' ? event.generation - 1 : event.generation
  return {
    owned,
    generation,
    attempt,
    left: attempt > (owned ? 1 : 0) ? generation : undefined,
    started: attempt > 0 && state !== 'claimed',
  }
}

export function trailAfter(trail: Trail, event: Event): Trail {
  if (event.to === undefined) return trail
  const owned = isOwnedState(event.to)
  return {
    owned,
    generation: event.generation,
    attempt: event.attempt,
    left: trail.owned && !owned ? trail.generation : trail.left,
    started: event.to === 'running' || (event.to === 'claimed' ? false : trail.started),
  }
}

const isOwnedState = (state: State | undefined): boolean => state === 'claimed' || state === 'running'

const generationOf = (fence: string): number => Number.parseInt(fence, 10)

/** Which reaches a job can have in a state, and which it can have after an event from there. */
export function reachesIn(state: State | 'none'): readonly Reach[] {
  if (state === 'none' || state === 'pending') return ['new']
  if (state === 'claimed') return ['first', 'again']
  if (state === 'running' || state === 'waiting' || state === 'parked' || state === 'succeeded') return ['ran']
  return state === 'stalled' || state === 'retrying' ? ['first', 'again', 'ran'] : ['new', 'first', 'again', 'ran']
}

export function reachesAfter(before: Reach, from: State | 'none', to: State): readonly Reach[] {
  if (to === 'claimed') return [before === 'new' ? 'first' : 'again']
  if (to === 'running') return ['ran']
  if (from === 'none' || isTerminal(from)) return ['new']
  return from === 'claimed' && before === 'first' ? ['first', 'again'] : [before]
}
