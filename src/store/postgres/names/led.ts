/** Where a commit led, as the key of an index (`past_led`): the letter of an end, the digit of a live state's rank. */
import type { EventType } from '../../../core/event.ts'
import { isTerminal, RANK, type State } from '../../../core/job.ts'
import { statesLedTo } from '../../../core/transitions.ts'
import { STATE_CODES } from '../../codec/codes.ts'

export const ledOf = (state: State): string => (isTerminal(state) ? STATE_CODES[state] : String(RANK[state]))

/** Where to look for events of these types: no commit that has one of them led anywhere else. */
export const ledBy = (types: readonly EventType[]): readonly string[] => [
  ...new Set(types.flatMap((type) => statesLedTo(type).map(ledOf))),
]
