/** Whom a fault finds in the middle of what: processes stop there, as one does that the machine has forgotten for a while. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'
import { asked, type Fault, PAST_THE_TURN_MS, type Servers } from './faults.ts'
import { ledgerWith } from './ledger-with.ts'

/**
 * `work`: nobody in particular. `append`: who is about to ship; `shipped`: who has, and was not told yet. `fence`: who is about to take an
 * epoch; `load`: who has taken one and loads. `fold`: who is about to fold.
 */
export const PHASES = ['work', 'append', 'shipped', 'fence', 'load', 'fold'] as const
export type Phase = (typeof PHASES)[number]

/** While it names a phase, processes stop there; `there`: so many have. */
export interface Stop {
  at: Phase
  there: number
}

/** How long a phase is waited for; nobody may come to it. */
const PHASE_WITHIN_MS = 5_000

export function hesitating(ledger: Ledger, stop: Stop): Ledger {
  const here = async (phase: Phase): Promise<void> => {
    if (stop.at === phase) stop.there += 1
    while (stop.at === phase) await pause(5)
  }
  return ledgerWith(ledger, {
    async append(append) {
      await here('append')
      const moved = await ledger.append(append)
      await here('shipped')
      return moved
    },
    async fence(epoch) {
      await here('fence')
      return ledger.fence(epoch)
    },
    async imageAfter(cursor) {
      await here('load')
      return ledger.imageAfter(cursor)
    },
    async fold(step) {
      await here('fold')
      return ledger.fold(step)
    },
  })
}

/** Answers whether somebody was there. A server that is joined has been emptied before. */
export async function during(servers: Servers, stop: Stop, phase: Phase, fault: Fault): Promise<boolean> {
  await fault.prepare?.(servers)
  Object.assign(stop, { at: phase, there: 0 })
  if (phase === 'fence' || phase === 'load') await asked(servers.redis, 'FLUSHALL')
  const until = performance.now() + PHASE_WITHIN_MS
  while (phase !== 'work' && stop.there === 0 && performance.now() < until) await pause(5)
  const isThere = phase === 'work' || stop.there > 0
  await fault.strike(servers)
  // Longer than a turn: who was stopped goes on after others have, if there are others.
  await pause(phase === 'work' ? 0 : PAST_THE_TURN_MS)
  stop.at = 'work'
  return isThere
}
