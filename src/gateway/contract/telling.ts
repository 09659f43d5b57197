/** How a document tells one job, exactly: for those who see nothing of us but the contract. */
import { pathOf } from '../../core/dialects/path.ts'
import type { TransitionType } from '../../core/event.ts'
import { LEADS_TO } from '../../core/transitions.ts'

export type { Dialect, Reach } from '../../core/dialects/dialect.ts'
export { NONE, shownAs } from '../../core/dialects/path.ts'
export { reach, type Trail, trailAfter, trailBefore } from '../../core/dialects/reach.ts'
export type { RefusedCells } from '../../core/dialects/refused-cells.ts'

/** By which of its moves a document tells an event that has come over the wire; none where it changes no state. */
export const movesTelling = (dialect: Parameters<typeof pathOf>[0], type: string, from: string, to: string) =>
  isTransition(type) ? (pathOf(dialect, type, from, to)?.steps ?? []) : []

const isTransition = (type: string): type is TransitionType => Object.hasOwn(LEADS_TO, type)
