/** The letters of the states whose rows may be in a table; some stand in one of two (`place` of encode.ts). */
import { FIELDS } from '../../../core/invariants.ts'
import { LIVE_STATES, type State, TERMINAL_STATES } from '../../../core/job.ts'
import { statesBefore } from '../../../core/transitions.ts'
import { STATE_CODES } from '../../codec/codes.ts'

const letters = (states: readonly State[]): readonly string[] => states.map((state) => STATE_CODES[state])

export const READY = letters(statesBefore('claim'))
export const OWNED = letters(FIELDS.lease)
export const RESTING = letters(LIVE_STATES.filter((state) => !FIELDS.lease.includes(state)))
export const ENDED = letters(TERMINAL_STATES)

/** Letters as a list in SQL. */
export const listed = (some: readonly string[]): string => some.map((letter) => `'${letter}'`).join(', ')
