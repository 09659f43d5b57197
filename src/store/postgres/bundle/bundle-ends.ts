/**
 * Ends of jobs that are in bundles of this process. All of a call end without a lease for any of them, or none does: one may have
 * been given a lease meanwhile, by a heartbeat or by a change of it, or may not end any more. Then its bundle is forgotten,
 * and the ends are settled as those of leases, which says of each what became of it.
 */
import { assert } from '../../../core/assert.ts'
import type { MoveChange } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import type { Kinds } from '../names/kinds.ts'
import { settleRow, settleValues } from '../settle/change-row.ts'
import type { Bundles } from './bundles.ts'

export interface BundleEndsParts {
  readonly bundles: Bundles
  readonly kinds: Kinds
  readonly statements: Statements
  readonly sawClock: (now: number) => void
}

type Run = (text: string, values: (again: boolean) => unknown[], mayBreakUp?: boolean) => Promise<Row[]>

export class BundleEnds {
  readonly #parts: BundleEndsParts

  constructor(parts: BundleEndsParts) {
    this.#parts = parts
  }

  /** Whether all have ended; where not, none has. `lost` is told of an earlier try that may have been applied. */
  async settle(changes: readonly MoveChange[], run: Run, lost: () => void): Promise<boolean> {
    const { bundles, kinds, statements, sawClock } = this.#parts
    const rows = changes.map((change) => settleRow(change, bundles.of(change.before)))
    const values = [...settleValues(changes, rows, kinds), literal(inOrder(rows.map(({ c }) => c)))]
    const [answer] = await run(
      statements.settleBundles,
      (repeated) => {
        if (repeated) lost()
        return values
      },
      true,
    )
    assert(answer !== undefined, 'a settlement is answered')
    const [now, ended, uncounted] = answer
    sawClock(Number(now))
    // Not awaited: if the recount fails, the bundle is counted when its leases end.
    if (typeof uncounted === 'string') run(statements.recount, () => [uncounted]).catch(() => {})
    if (ended !== true) for (const { before } of changes) bundles.forget(before)
    return ended === true
  }
}

/** Each bundle once and in one order, so that two statements that lock several of them cannot deadlock. */
const inOrder = (bundles: readonly (number | undefined)[]): readonly (number | undefined)[] =>
  [...new Set(bundles)].sort((a, b) => (a ?? 0) - (b ?? 0))
