/**
 * Plain ends of jobs with slots, under keys that stay as they are: all of a call in one statement, their slots are free with it. Where one of
 * the keys has changed since it was read, or one of the jobs has moved, what is left is moved as anything else is (`flow_move`),
 * which says of each what became of it.
 */
import { assert } from '../../../core/assert.ts'
import type { MoveChange } from '../../store.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import { comparedKeys } from '../flow/flowing.ts'
import type { Letting } from '../flow/letting.ts'
import type { Kinds } from '../names/kinds.ts'
import { settleRow, settleValues } from './change-row.ts'

export interface VacatingParts {
  readonly kinds: Kinds
  readonly letting: Pick<Letting, 'flows' | 'waitedAt'>
  readonly statements: Statements
  readonly sawClock: (now: number) => void
}

type Run = (text: string, values: (again: boolean) => unknown[], mayBreakUp?: boolean) => Promise<Row[]>

export class Vacating {
  readonly #parts: VacatingParts

  constructor(parts: VacatingParts) {
    this.#parts = parts
  }

  /** Whether all have ended. `lost` is told where some may have, by this try or an earlier one. */
  async apply(changes: readonly MoveChange[], run: Run, lost: () => void): Promise<boolean> {
    const { kinds, letting, statements, sawClock } = this.#parts
    const rows = changes.map((change) => settleRow(change))
    const values = [...settleValues(changes, rows, kinds), ...comparedKeys(changes, letting.flows)]
    const [answer] = await run(
      statements.flowSettle,
      (repeated) => {
        if (repeated) lost()
        return values
      },
      true,
    )
    assert(answer !== undefined, 'a settlement is answered')
    const [now, missed, waited, isStale] = answer
    sawClock(Number(now))
    if (isStale === true) return false
    if (waited !== '{}') letting.waitedAt(String(waited))
    if (missed !== null) lost()
    return missed === null
  }
}
