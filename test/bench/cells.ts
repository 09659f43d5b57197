import type { ContenderName } from '../../bench/contenders.ts'
import type { Figures } from '../../bench/scenario.ts'
import { type Cell, Summary } from '../../bench/summary.ts'

/** A summary of what is written down: by scenario and contender, the figures of each round. */
export function summaryOf(all: Readonly<Record<string, Partial<Record<ContenderName, readonly Figures[]>>>>): Summary {
  const cells: Cell[] = []
  for (const [scenario, contenders] of Object.entries(all)) {
    for (const [contender, rounds] of Object.entries(contenders)) {
      rounds.forEach((figures, i) => {
        cells.push({ scenario, contender: contender as ContenderName, round: i + 1, figures, seconds: 1 })
      })
    }
  }
  return new Summary(cells)
}

export const rates = (...perSecond: readonly number[]): readonly Figures[] =>
  perSecond.map((each) => ({ perSecond: each }))
