/** What a run has found, as it is kept: everything a page about it needs. */
import { verdicts } from '../bars.ts'
import type { ContenderName } from '../contenders.ts'
import type { Mode, Options, Play } from '../options.ts'
import type { Size } from '../size.ts'
import type { Cell, Summary } from '../summary.ts'
import type { Surroundings } from './surroundings.ts'
import { ratio } from './tables.ts'

export interface Result {
  readonly mode: Mode
  readonly size: Size
  readonly on: Surroundings
  readonly ratios: Ratios
  readonly bars: Bars
  readonly contenders: Readonly<Partial<Record<ContenderName, Contended>>>
  readonly cells: readonly Cell[]
}

/** How far pawl is ahead of the best peer, by scenario. Above 1 it is ahead, whichever way round the figure is. */
export type Ratios = Readonly<Record<string, number>>
export type Bars = Readonly<Record<string, { readonly value: number; readonly limit?: number; readonly met: boolean }>>

export interface Contended {
  readonly configuration: string
  readonly keeps: string
}

export function resultOf(
  summary: Summary,
  { mode, size, plan }: Options,
  on: Surroundings,
  contenders: Result['contenders'],
): Result {
  return { mode, size, on, ratios: ratios(summary, plan), bars: barsOf(summary), contenders, cells: summary.cells }
}

/** One line for programs: the ratios by scenario name, and what became of the bars. */
export function asLine({ ratios, bars }: Result): string {
  return JSON.stringify({ ...ratios, bars })
}

function ratios(summary: Summary, plan: readonly Play[]): Ratios {
  const all = plan.map(({ scenario }) => [scenario.name, ratio(summary, scenario)] as const)
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, rounded(value)]])))
}

/** Where there is only somewhere to go, there is no limit. */
function barsOf(summary: Summary): Bars {
  const all = verdicts(summary).map(({ bar, value, met, beyond }) => {
    const limited = Number.isFinite(bar.limit) && bar.limit > 0
    const judged = limited ? { limit: bar.limit, met } : { met: beyond }
    return [bar.name, { value: rounded(value), ...judged }] as const
  })
  return Object.fromEntries(all)
}

const rounded = (value: number) => Math.round(value * 1_000) / 1_000
