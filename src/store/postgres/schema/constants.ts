/**
 * What functions and views know of core and codec: ranks, letters and times have their home there, and are written into a
 * text (`{{rank.claimed}}`) when it is applied.
 */

import { assert } from '../../../core/assert.ts'
import { LONG_LOG } from '../../../core/compact.ts'
import { LANE_WINDOW, PATIENCE_MS } from '../../../core/flow/hall.ts'
import { FIELDS } from '../../../core/invariants.ts'
import { RANK, type State, TERMINAL_STATES, UNSUCCESSFUL_STATES } from '../../../core/job.ts'
import { SIZES } from '../../../core/limits.ts'
import { statesBefore } from '../../../core/transitions.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { LANE_WIDTH } from '../../codec/lane.ts'
import { CLAIMED_REV } from '../../codec/log-tells.ts'
import { HANDED_OUT_MS } from '../../handed-out.ts'
import { leaseEndText, leaseRenewedAtText } from '../../lease-text.ts'
import { BUNDLE_FROM } from '../bundle/bundles.ts'
import { LET_IN } from '../names/let-in-lane.ts'
import { packed, STEP_BITS } from '../names/step.ts'
import { ASKED_FROM } from '../settle/asked-from.ts'

const { queued, claimed, succeeded } = RANK

const CONSTANTS: Readonly<Record<string, string | number>> = {
  'rank.claimed': claimed,
  'rank.ended': succeeded,
  /** How a step is packed. */
  'bits.attempt': STEP_BITS.attempt,
  'bits.generation': STEP_BITS.generation,
  'mask.rank': 2 ** STEP_BITS.attempt - 1,
  'mask.attempt': 2 ** (STEP_BITS.generation - STEP_BITS.attempt) - 1,
  /** Step and revision of a job that has only been enqueued, and of one that has only been claimed since. */
  'step.enqueued': packed(0, 0, queued),
  'step.claimed': packed(0, 1, claimed),
  'rev.claimed': CLAIMED_REV,
  'attempt.claimed': 1,
  'asked.from': ASKED_FROM,
  'lane.width': LANE_WIDTH,
  'lane.letIn': LET_IN,
  'flow.keys': SIZES.limits,
  'flow.window': LANE_WINDOW,
  'flow.patienceMs': PATIENCE_MS,
  'due.handedOutMs': HANDED_OUT_MS,
  'bundle.from': BUNDLE_FROM,
  'log.long': LONG_LOG,
  'states.ended': letters(...TERMINAL_STATES),
  'states.unhappy': letters(...UNSUCCESSFUL_STATES),
  /** The letters of states by the table their records are in (step.ts, `placeOf`); some are in one of two. */
  'states.leased': letters(...FIELDS.lease),
  'states.readyLater': letters('retrying', 'stalled'),
  'states.resting': letters('pending', 'waiting', 'parked', 'stalled'),
  /** The shape of a claim in the feed: of a job that was only enqueued, and by the rank it was claimed from (change-row.ts, `shapeOf`). */
  'claim.shape': claimShape('queued'),
  'claim.shapes': statesBefore('claim')
    .map((state) => `when ${RANK[state]} then '${claimShape(state)}'`)
    .join(' '),
  'state.names': cases(STATE_CODES),
  'event.names': cases(EVENT_CODES),
  ...Object.fromEntries(Object.entries(STATE_CODES).map(([state, letter]) => [`state.${state}`, letter])),
}

/** What is computed over columns: `{{leaseEnd(c.at, k.window_ms)}}`. */
const COMPUTED: Readonly<Record<string, (left: string, right: string) => string>> = {
  leaseEnd: leaseEndText,
  leaseRenewedAt: leaseRenewedAtText,
}

export const filled = (text: string): string =>
  text
    .replaceAll(/\{\{(\w+)\((.+?), (.+?)\)\}\}/g, (_, name: string, left: string, right: string) => {
      const compute = COMPUTED[name]
      assert(compute !== undefined, `${name} is something that SQL may ask to be computed`)
      return compute(left, right)
    })
    .replaceAll(/\{\{([\w.]+)\}\}/g, (_, name: string) => {
      const value = CONSTANTS[name]
      assert(value !== undefined, `${name} is a constant that SQL may ask for`)
      return String(value)
    })

function claimShape(from: State): string {
  return STATE_CODES[from] + EVENT_CODES.claimed + STATE_CODES.claimed
}

function letters(...states: readonly State[]): string {
  return states.map((state) => STATE_CODES[state]).join('')
}

function cases(codes: Readonly<Record<string, string>>): string {
  return Object.entries(codes)
    .map(([name, letter]) => `when '${letter}' then '${name}'`)
    .join(' ')
}
