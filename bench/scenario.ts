import type { ContenderName } from './contenders.ts'
import type { Size } from './size.ts'
import type { Stage } from './stage.ts'

/** One thing that is measured. Each is a file in `scenarios/`, and all are alike. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** The figure that the table shows, and whether more of it is better. */
  readonly figure: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly contenders: readonly ContenderName[]
  /** What a contender is given in it, in words. */
  readonly note?: string | undefined
  /** In a full run: where once says as much as three times, or where three differ by more than contenders do. */
  readonly rounds?: number | undefined
  /** What is there before, made once per contender and copied for each round, and for each scenario that begins so. */
  readonly fill?: Fill | undefined
  run(stage: Stage, size: Size): Promise<Figures>
}

export type Fill = (stage: Stage, size: Size) => Promise<unknown>

/**
 * Names are the same everywhere: `perSecond`, `walBytes`, `serverUs`, `ledgerUs`, `nodeUs`, of which `gatewayUs`, `diskBytes`,
 * `pages`, `heapMb` (all but the last per job), `p50`, `p95`, `p99` in ms, `coreShare`, `workerShare`, `serverShare` in % of a
 * core, `statements` per second.
 */
export type Figures = Readonly<Record<string, number>>

/**
 * What is judged by how it differs from the plain case is measured right after it, in the same cell: minutes later the
 * machine is another one. The plain figures keep their names, with `plain` before them. Only pawl is judged so.
 */
export async function withPlain(
  stage: Stage,
  plain: (empty: Stage) => Promise<Figures>,
  run: () => Promise<Figures>,
): Promise<Figures> {
  if (stage.contender.build === undefined) return run()
  const before = await plainly(stage, plain)
  return { ...before, ...(await run()) }
}

async function plainly(stage: Stage, plain: (empty: Stage) => Promise<Figures>): Promise<Figures> {
  await using empty = await stage.empty()
  const figures = await plain(empty)
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [plainOf(name), value]))
}

export const plainOf = (figure: string): string => `plain${figure[0]?.toUpperCase()}${figure.slice(1)}`

/** It was not ready within the time a cell has. What it had done by then is a result, too. */
export class DidNotFinish extends Error {
  override readonly name = 'DidNotFinish'
  readonly figures: Figures

  constructor(figures: Figures) {
    super('did not finish')
    this.figures = figures
  }
}
