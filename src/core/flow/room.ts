/** Whether a key has room for one more; and if not, what is in the way and when somebody must look again. */
import type { Time } from '../job.ts'
import type { Gate } from './gate.ts'
import type { Count } from './slots.ts'

export const OBSTACLES = ['closed', 'spent', 'full', 'probed', 'paced'] as const
export type Obstacle = (typeof OBSTACLES)[number]

export interface Shortage {
  readonly obstacle: Obstacle
  /** When it may be over by itself. Undefined: only who frees a slot can end it. */
  readonly wakeAt: Time | undefined
}

/** Undefined: there is room. */
export function shortageOf(gate: Gate, count: Count, now: Time): Shortage | undefined {
  if (now < gate.openAt) return { obstacle: 'closed', wakeAt: gate.openAt }
  if (gate.budget !== undefined && count.spent >= gate.budget)
    return { obstacle: 'spent', wakeAt: (Math.floor(now / gate.perMs) + 1) * gate.perMs }
  if (gate.cap !== undefined && count.taken >= gate.cap) return { obstacle: 'full', wakeAt: undefined }
  if (gate.slots !== undefined && count.takenSince >= gate.slots) return { obstacle: 'probed', wakeAt: undefined }
  if (gate.rate !== undefined && count.started >= gate.rate)
    return { obstacle: 'paced', wakeAt: pacedUntil(gate, count, now) }
  return undefined
}

/**
 * When the first claim leaves the window. A claim tells nobody, so that it need not touch the key: where nothing is claimed yet,
 * what stands is taken for claimed now.
 */
const pacedUntil = ({ rateMs }: Gate, { oldestStart }: Count, now: Time): Time => (oldestStart ?? now) + rateMs

/** More is taken than the gate allows, or it is shut: what stands must go back. */
export const isBeyond = (gate: Gate, count: Count, now: Time): boolean =>
  now < gate.openAt ||
  (gate.budget !== undefined && count.spent >= gate.budget) ||
  (gate.cap !== undefined && count.taken > gate.cap) ||
  (gate.slots !== undefined && count.takenSince > gate.slots) ||
  (gate.rate !== undefined && count.started > gate.rate)
