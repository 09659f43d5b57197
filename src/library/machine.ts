/** The table the engine enforces, as users are shown it. */
import { RANK, STATES, TERMINAL_STATES } from '../core/job.ts'
import { edges, MACHINE } from '../core/transitions.ts'

export const machine = {
  version: 1,
  states: STATES,
  terminal: TERMINAL_STATES,
  rank: RANK,
  moves: MACHINE,
  edges: edges(),
} as const
