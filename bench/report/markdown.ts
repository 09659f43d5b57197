/** A run as a page. */
import type { ContenderName } from '../contenders.ts'
import type { Play } from '../options.ts'
import type { Summary } from '../summary.ts'
import { day } from './day.ts'
import type { Result } from './result.ts'
import { asMarkdown, type Table } from './table.ts'
import { bars, budget, costs, found, number, results } from './tables.ts'

export function markdown(summary: Summary, plan: readonly Play[], result: Result, picture: string): string {
  const { on, mode, size } = result
  const scenarios = plan.map(({ scenario }) => scenario)
  const versions = Object.entries(on.versions).map(([name, version]) => `${name} ${version}`)
  const notes = scenarios.flatMap(({ title, note }) => (note === undefined ? [] : [`- ${title}: ${note}.`]))
  const minutes = summary.cells.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  return `# Benchmark, ${on.at.slice(0, 10)} (${mode})

Commit ${on.commit}. ${on.cores} × ${on.processor}, ${on.memoryGib} GiB, shared by servers, producers and workers. Load of the machine when it began:
${on.loadBefore}. ${minutes.toFixed(0)} minutes; rounds are interleaved: ${roundsOf(plan)}. ${number(size.jobs)} no-op jobs of about 100 bytes (slow peers fewer, by the
same share everywhere) after ${number(size.warm)} in each process that warm it up and do not count; ${number(size.warmMs / 1_000)} s where a scenario has a time. ${number(size.beside)} jobs to
drain beside. Medians; ± is half the spread. Postgres with fsync and synchronous_commit on, tables analyzed for everybody. Only ratios
within this run count.

${versions.join(', ')}.

![pawl beside its peers](${picture})

## Results

${asMarkdown(results(summary, scenarios))}

${notes.join('\n')}

## Bars

${asMarkdown(bars(summary))}

## Costs per job

${asMarkdown(costs(summary, scenarios))}

pawl beside its budget:

${asMarkdown(budget(summary))}

${section('## What else was found', found(summary, scenarios))}${section(DAY, day(summary))}## Who was measured

${asMarkdown(who(summary, result))}
`
}

const DAY = `## A day

What it costs to enqueue a million realistic jobs and to run them: measured on the share that is said, and multiplied. Idle workers come besides.`

const section = (title: string, table: Table): string =>
  table.rows.length === 0 ? '' : `${title}\n\n${asMarkdown(table)}\n\n`

function roundsOf(plan: readonly Play[]): string {
  const names = (count: number) => plan.filter(({ rounds }) => rounds === count).map(({ scenario }) => scenario.name)
  const counts = [...new Set(plan.map(({ rounds }) => rounds))].toSorted((a, b) => names(b).length - names(a).length)
  return counts.map((count, i) => (i === 0 ? `${count}` : `${count} of ${names(count).join(', ')}`)).join(', ')
}

/** As it was configured, and what it leaves behind. */
function who(summary: Summary, { contenders }: Result): Table {
  const rows = Object.entries(contenders).map(([name, { configuration, keeps }]) => {
    const left = (figure: string) => number(summary.median('left', name as ContenderName, figure))
    return [name, configuration, keeps, left('rows'), left('diskBytes')]
  })
  return { head: ['', 'configuration', 'keeps of a job that is over', 'rows', 'bytes'], rows }
}
