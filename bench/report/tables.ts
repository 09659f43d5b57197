/** The summary as tables: who did how much, what it cost, and what of it was promised. */
import { verdicts } from '../bars.ts'
import { type ContenderName, PEERS, POSTGRES_PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import type { Summary } from '../summary.ts'
import type { Table } from './table.ts'

/** Medians with half the spread; then pawl's ratio to the best peer, and its share of what bare SQL does. */
export function results(summary: Summary, scenarios: readonly Scenario[]): Table {
  const there = (name: ContenderName) => summary.cells.some(({ contender }) => contender === name)
  const columns = (['pawl', 'pawl-work', 'pawl-redis', 'pawl-redis-ledger', 'bare-sql', ...PEERS] as const).filter(
    there,
  )
  const rows = scenarios.flatMap((scenario) =>
    figuresOf(scenario).map((figure) => {
      const cell = (name: ContenderName) => shown(summary, scenario, as(scenario, name), figure)
      const ratios = [ratioOf(summary, scenario, figure), ...(there('bare-sql') ? [shareOf(summary, scenario)] : [])]
      return [titleOf(scenario, figure), ...columns.map(cell), ...ratios]
    }),
  )
  return { head: ['', ...columns, 'pawl ÷ best peer', ...(there('bare-sql') ? ['share of bare SQL'] : [])], rows }
}

function shareOf(summary: Summary, { name }: Scenario): string {
  const [own, limit] = (['pawl', 'bare-sql'] as const).map((who) => summary.median(name, who))
  return own === undefined || limit === undefined ? '' : (own / limit).toFixed(2)
}

const figuresOf = ({ figure }: Scenario) => (figure === 'p50' ? ['p50', 'p95', 'p99'] : [figure])
const titleOf = ({ title, unit, figure }: Scenario, shownFigure: string) =>
  `${title}${figure === 'p50' ? `, ${shownFigure}` : ''} (${unit})`

/** The embedded store stands in pawl's column. */
const as = ({ contenders }: Scenario, name: ContenderName): ContenderName =>
  name === 'pawl' && contenders.includes('pawl-sqlite') ? 'pawl-sqlite' : name

function shown(summary: Summary, { name, contenders }: Scenario, who: ContenderName, figure: string): string {
  if (!contenders.includes(who)) return ''
  const failure = summary.failure(name, who)
  const measured = summary.of(name, who, figure)
  if (measured === undefined) return failure === undefined ? '' : failure === 'did not finish' ? failure : 'failed'
  const { median, least, most } = measured
  const spread = median === 0 || least === most ? '' : ` ±${Math.round((50 * (most - least)) / median)} %`
  return `${failure === undefined ? '' : `${failure}, `}${number(median)}${spread}`
}

/** How many times better than the best peer that was measured beside it. */
export function ratioOf(summary: Summary, scenario: Scenario, figure = scenario.figure): string {
  const value = ratio(summary, scenario, figure)
  return value === undefined ? '' : value.toFixed(2)
}

/** Above 1 pawl is ahead, whichever way round the figure is. */
export function ratio(summary: Summary, scenario: Scenario, figure = scenario.figure): number | undefined {
  const { name, better } = scenario
  const own = summary.median(name, as(scenario, 'pawl'), figure)
  const best = name === 'embedded' ? summary.best('drain-1', POSTGRES_PEERS) : summary.best(name, PEERS, figure, better)
  if (own === undefined || best === undefined) return undefined
  return better === 'more' ? own / best.value : best.value / own
}

const COSTS = [
  ['serverUs', 'server CPU µs'],
  ['ledgerUs', 'ledger CPU µs'],
  ['nodeUs', 'Node CPU µs'],
  ['gatewayUs', 'gateway’s of it'],
  ['walBytes', 'WAL B'],
  ['pages', 'pages'],
  ['diskBytes', 'disk B'],
  ['rows', 'rows left'],
  ['heapMb', 'heap MB'],
] as const

/** Per job, but for the heap. */
export function costs(summary: Summary, scenarios: readonly Scenario[]): Table {
  const rows = scenarios.flatMap(({ name, title, contenders }) =>
    contenders
      .map((who) => COSTS.map(([figure]) => summary.median(name, who, figure)).map(number))
      .map((row, i) => [`${title}: ${contenders[i]}`, ...row])
      .filter(([, ...figures]) => figures.some((figure) => figure !== '')),
  )
  return { head: ['', ...COSTS.map(([, words]) => words)], rows }
}

const FOUND = [
  ['plainPerSecond', 'the plain case beside it, per second'],
  ['plainServerUs', 'the plain case beside it, server CPU µs'],
  ['httpPerSecond', 'over HTTP, per second'],
  ['plainP50', 'the plain case beside it, p50 ms'],
  ['httpP50', 'over HTTP, p50 ms'],
  ['httpP99', 'over HTTP, p99 ms'],
  ['plainP99', 'alone, p99 ms'],
  ['beside', 'steps/s beside it'],
  ['statements', 'statements/s'],
  ['serverShare', 'server, % of a core'],
  ['workerShare', 'workers, % of a core'],
  ['lastOverFirst', 'time of the last tenth ÷ the second tenth'],
  ['depth', 'levels of the deepest index'],
] as const

/** What pawl's cells say besides: what ratios are made of, and what is a figure of one scenario alone. */
export function found(summary: Summary, scenarios: readonly Scenario[]): Table {
  const rows = scenarios.flatMap(({ name, title }) =>
    FOUND.flatMap(([figure, words]) => {
      const value = summary.median(name, 'pawl', figure)
      return value === undefined ? [] : [[`${title}: ${words}`, number(value)]]
    }),
  )
  return { head: ['pawl', ''], rows }
}

/** What the physical design allows: server 9 + 20 µs, Node 6 + 14 µs, 1,100 bytes of WAL. */
const BUDGET = [
  ['server CPU µs, bulk enqueue', 'serverUs', ['bulk-enqueue'], 9],
  ['server CPU µs, drain', 'serverUs', ['drain-1'], 20],
  ['Node CPU µs, bulk enqueue', 'nodeUs', ['bulk-enqueue'], 6],
  ['Node CPU µs, drain', 'nodeUs', ['drain-1'], 14],
  ['WAL B, both', 'walBytes', ['bulk-enqueue', 'drain-1'], 1_100],
] as const

export function budget(summary: Summary): Table {
  const rows = BUDGET.flatMap(([title, figure, scenarios, allowed]) => {
    const parts = scenarios.map((scenario) => summary.median(scenario, 'pawl', figure) ?? Number.NaN)
    const spent = parts.reduce((sum, part) => sum + part, 0)
    return Number.isNaN(spent) ? [] : [[title, number(spent), number(allowed), spent <= allowed ? 'kept' : 'exceeded']]
  })
  return { head: ['pawl, per job', 'spent', 'budget', ''], rows }
}

export function bars(summary: Summary): Table {
  const rows = verdicts(summary).map(({ bar, value, met, beyond }) => {
    const sign = bar.better === 'more' ? '≥' : '≤'
    const wanted = Number.isFinite(bar.limit) && bar.limit > 0 ? `${sign} ${bar.limit}` : ''
    const further = bar.beyond === undefined ? '' : `${sign} ${bar.beyond}`
    const verdict = beyond ? 'met, and beyond' : met ? 'met' : 'not met'
    return [bar.says, value.toFixed(2), wanted, further, wanted === '' ? (beyond ? 'beyond' : 'not beyond') : verdict]
  })
  return { head: ['', 'measured', 'bar', 'beyond', ''], rows }
}

export function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ''
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
