/** What has become of pawl since another commit, scenario by scenario: medians of the same interleaved rounds. */
import { BEFORE, type ContenderName } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import type { Summary } from '../summary.ts'
import type { Table } from './table.ts'
import { number } from './tables.ts'

/** What a job costs. Rates and latencies move with whatever else the machine does; these hardly do, so they are judged. */
const COSTS: ReadonlySet<string> = new Set(['serverUs', 'nodeUs', 'gatewayUs', 'walBytes'])
const SHOWN = ['serverUs', 'nodeUs', 'gatewayUs', 'walBytes', 'pages', 'diskBytes', 'p50', 'p95', 'coreShare'] as const
const ALLOWED = 0.05

export interface Change {
  readonly scenario: string
  readonly figure: string
  readonly before: number
  readonly now: number
  /** The share by which it has risen; below 0 it has fallen. */
  readonly by: number
  /** Of costs: dearer by more than is allowed, or not. */
  readonly verdict?: 'kept' | 'dearer' | undefined
}

export function changesIn(summary: Summary, scenarios: readonly Scenario[]): readonly Change[] {
  return scenarios.flatMap((scenario) =>
    [...new Set([scenario.figure, ...SHOWN])].flatMap((figure) => changeOf(summary, scenario, figure) ?? []),
  )
}

/** Scenarios of which there is nothing to compare, because one of both has not made it: that is no proof that nothing has changed. */
export function uncompared(summary: Summary, scenarios: readonly Scenario[]): readonly string[] {
  const compared = new Set(changesIn(summary, scenarios).map(({ scenario }) => scenario))
  return scenarios.map(({ name }) => name).filter((name) => !compared.has(name))
}

const playerOf = ({ contenders }: Scenario) => (contenders.includes('pawl') ? 'pawl' : 'pawl-sqlite')

function changeOf(summary: Summary, scenario: Scenario, figure: string): Change | undefined {
  const { name } = scenario
  const who = playerOf(scenario)
  const median = (contender: ContenderName) => summary.median(name, contender, figure)
  const [before, now] = [median(BEFORE[who]), median(who)]
  if (before === undefined || now === undefined || before === 0) return undefined
  const by = now / before - 1
  const verdict = !COSTS.has(figure) ? undefined : by > ALLOWED ? 'dearer' : 'kept'
  return { scenario: name, figure, before, now, by, verdict }
}

export function compared(changes: readonly Change[], commit: string): Table {
  const rows = changes.map(({ scenario, figure, before, now, by, verdict }) => [
    `${scenario}: ${figure}`,
    number(before),
    number(now),
    `${by > 0 ? '+' : ''}${(100 * by).toFixed(1)} %`,
    verdict ?? '',
  ])
  return { head: ['', commit, 'now', '', ''], rows }
}
