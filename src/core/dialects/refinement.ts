/**
 * The refinement: for every state change our machine can make, and however far the job had come, the moves by which
 * each document tells it, checked against that document's table.
 */
import { DIALECT_NAMES, type DialectName } from '../policy.ts'
import { type Edge, edges } from '../transitions.ts'
import type { Dialect, Reach, Status, Step } from './dialect.ts'
import { pathOf, shownAs } from './path.ts'
import { reachesAfter, reachesIn } from './reach.ts'
import { DIALECTS } from './registry.ts'

export const LONGEST_PATH = 4

export interface Refined {
  readonly dialect: DialectName
  readonly edge: Edge
  readonly reach: { readonly before: Reach; readonly after: Reach }
  readonly from: Status
  readonly to: Status
  readonly steps: readonly Step[] | undefined
  readonly fresh: boolean
  /** Why the document could not tell it so. Empty, or the build fails. */
  readonly faults: readonly string[]
}

export function refinement(
  dialects: readonly Dialect[] = DIALECT_NAMES.map((name) => DIALECTS[name]),
): readonly Refined[] {
  return dialects.flatMap((dialect) =>
    edges().flatMap((edge) =>
      reachesIn(edge.from)
        .flatMap((before) => reachesAfter(before, edge.from, edge.to).map((after) => ({ before, after })))
        .filter((reach) => canHappen(edge, reach))
        .map((reach) => refine(dialect, edge, reach)),
    ),
  )
}

type Reaches = Refined['reach']

/** Only what nobody ever claimed is denied; what has steps to undo has run before. */
const canHappen = ({ event }: Edge, { before, after }: Reaches): boolean =>
  event === 'denied' ? before === 'new' : event !== 'compensating' || after !== 'first'

function refine(dialect: Dialect, edge: Edge, reach: Reaches): Refined {
  const from = shownAs(dialect, edge.from, reach.before)
  const to = shownAs(dialect, edge.to, reach.after)
  const { steps, fresh = false } = pathOf(dialect, edge.event, from, to) ?? {}
  const faults = steps === undefined ? ['missing'] : steps.length > LONGEST_PATH ? [`${steps.length} moves`] : []
  return { dialect: dialect.name, edge, reach, from, to, steps, fresh, faults }
}
