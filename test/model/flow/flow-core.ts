/** The part of the core that keys live by: the shipped one, or a copy with one line changed. */
import type { decideKey } from '../../../src/core/flow/decide.ts'
import type { gateOf } from '../../../src/core/flow/gate.ts'
import type { letIn } from '../../../src/core/flow/let-in.ts'
import type { shortageOf } from '../../../src/core/flow/room.ts'
import type { countOf, withClaim, withoutSlot, withSpent } from '../../../src/core/flow/slots.ts'
import type {
  afterGivingWay,
  isOutOfPatience,
  isStanding,
  newestFirst,
  takenBack,
} from '../../../src/core/flow/take-back.ts'
import { SHIPPED } from '../core.ts'
import type * as habits from './habits.ts'

export interface FlowCore {
  readonly decideKey: typeof decideKey
  readonly gateOf: typeof gateOf
  readonly letIn: typeof letIn
  readonly shortageOf: typeof shortageOf
  readonly countOf: typeof countOf
  readonly withClaim: typeof withClaim
  readonly withoutSlot: typeof withoutSlot
  readonly withSpent: typeof withSpent
  readonly afterGivingWay: typeof afterGivingWay
  readonly isOutOfPatience: typeof isOutOfPatience
  readonly isStanding: typeof isStanding
  readonly newestFirst: typeof newestFirst
  readonly takenBack: typeof takenBack
  readonly habits: typeof habits
}

const FILES = ['decide.ts', 'gate.ts', 'let-in.ts', 'room.ts', 'slots.ts', 'take-back.ts']

export async function loadFlowCore(at: URL): Promise<FlowCore> {
  const parts = await Promise.all(FILES.map((file) => import(new URL(`core/flow/${file}`, at).href)))
  const own = at.href === SHIPPED.href ? './habits.ts' : new URL('model/habits.ts', at).href
  return Object.assign({}, ...parts, { habits: await import(own) })
}
