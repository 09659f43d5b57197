/** From cells to medians: what all rounds say about one contender in one scenario. */
import type { ContenderName } from './contenders.ts'
import { type Figures, plainOf } from './scenario.ts'

/** One contender in one scenario in one round. */
export interface Cell {
  readonly scenario: string
  readonly contender: ContenderName
  readonly round: number
  readonly figures: Figures
  /** Why there are no figures, or only those of the time it had. */
  readonly failed?: string | undefined
  /** How long it took, with all that is around it. */
  readonly seconds: number
}

export interface Measured {
  readonly median: number
  readonly least: number
  readonly most: number
}

export class Summary {
  readonly cells: readonly Cell[]

  constructor(cells: readonly Cell[]) {
    this.cells = cells
  }

  of(scenario: string, contender: ContenderName, figure: string): Measured | undefined {
    return spread(this.#cells(scenario, contender).map(({ figures }) => figures[figure]))
  }

  /** A figure over that of the plain case, which was measured right before it in the same cell. */
  overPlain(scenario: string, contender: ContenderName, figure: string): number | undefined {
    const ratios = this.#cells(scenario, contender).map(({ figures }) => {
      const [value, plain] = [figures[figure], figures[plainOf(figure)]]
      return value === undefined || plain === undefined ? undefined : value / plain
    })
    return spread(ratios)?.median
  }

  median(scenario: string, contender: ContenderName, figure = 'perSecond'): number | undefined {
    return this.of(scenario, contender, figure)?.median
  }

  /** The word for a contender that did not make it in some round. */
  failure(scenario: string, contender: ContenderName): string | undefined {
    return this.#cells(scenario, contender).find(({ failed }) => failed !== undefined)?.failed
  }

  /** The fastest (or quickest) of them, as far as they were measured. */
  best(
    scenario: string,
    contenders: readonly ContenderName[],
    figure = 'perSecond',
    better: 'more' | 'less' = 'more',
  ): { readonly contender: ContenderName; readonly value: number } | undefined {
    let best: { contender: ContenderName; value: number } | undefined
    for (const contender of contenders) {
      const value = this.median(scenario, contender, figure)
      if (value === undefined) continue
      if (best === undefined || (better === 'more' ? value > best.value : value < best.value)) {
        best = { contender, value }
      }
    }
    return best
  }

  #cells(scenario: string, contender: ContenderName): readonly Cell[] {
    return this.cells.filter((cell) => cell.scenario === scenario && cell.contender === contender)
  }
}

function spread(all: readonly (number | undefined)[]): Measured | undefined {
  const values = all
    .filter((value): value is number => value !== undefined && Number.isFinite(value))
    .sort((a, b) => a - b)
  const [least] = values
  const most = values.at(-1)
  if (least === undefined || most === undefined) return undefined
  const middle = values.length >> 1
  const upper = values[middle] as number
  const median = values.length % 2 === 1 ? upper : (upper + (values[middle - 1] as number)) / 2
  return { median, least, most }
}
