/** Prints the tables, and writes them with what they were measured on: JSON, Markdown and a picture. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { verdicts } from '../bars.ts'
import type { ContenderName } from '../contenders.ts'
import type { Options } from '../options.ts'
import type { Scenario } from '../scenario.ts'
import type { Summary } from '../summary.ts'
import { type Surroundings, surroundings } from './surroundings.ts'
import { type Chart, svg } from './svg.ts'
import { asMarkdown, asText } from './table.ts'
import { bars, costs, number, ratio, results } from './tables.ts'

const RESULTS = new URL('../results/', import.meta.url)

export function report(summary: Summary, options: Options): void {
  const { scenarios, mode } = options
  console.log(`\n${asText(results(summary, scenarios))}`)
  console.log(`\n${asText(costs(summary, scenarios))}`)
  console.log(`\n${asText(bars(summary))}`)
  for (const { scenario, contender, round, failed } of summary.cells) {
    if (failed !== undefined) console.log(`${scenario}, ${contender}, round ${round}: ${failed}`)
  }
  if (mode !== 'tiny') console.log(`\nwritten to ${written(summary, options, surroundings())}`)
  if (options.json) console.log(JSON.stringify(ratios(summary, scenarios)))
}

/** By scenario how far pawl is ahead of the best peer, and by bar what was measured. */
function ratios(summary: Summary, scenarios: readonly Scenario[]): Record<string, number> {
  const rounded = (value: number) => Math.round(value * 1_000) / 1_000
  const all: Record<string, number> = {}
  for (const scenario of scenarios) {
    const value = ratio(summary, scenario)
    if (value !== undefined) all[scenario.name] = rounded(value)
  }
  for (const { bar, value } of verdicts(summary)) all[bar.name] ??= rounded(value)
  return all
}

function written(summary: Summary, options: Options, on: Surroundings): string {
  mkdirSync(RESULTS, { recursive: true })
  const name = `${on.at.slice(0, 19).replaceAll(':', '')}${options.mode === 'quick' ? '-quick' : ''}`
  const file = (ending: string) => new URL(`${name}.${ending}`, RESULTS)
  const { size, mode } = options
  const data = { mode, size, on, ratios: ratios(summary, options.scenarios), cells: summary.cells }
  writeFileSync(file('json'), `${JSON.stringify(data, null, 2)}\n`)
  writeFileSync(file('md'), markdown(summary, options, on, `${name}.svg`))
  writeFileSync(file('svg'), svg(charts(summary, options.scenarios)))
  return fileURLToPath(file('md'))
}

function markdown(summary: Summary, { scenarios, mode, size }: Options, on: Surroundings, picture: string): string {
  const versions = Object.entries(on.versions).map(([name, version]) => `${name} ${version}`)
  const notes = scenarios.flatMap(({ title, note }) => (note === undefined ? [] : [`- ${title}: ${note}.`]))
  return `# Benchmark, ${on.at.slice(0, 10)} (${mode})

Commit ${on.commit}. ${on.cores} × ${on.processor}, ${on.memoryGib} GiB, shared by servers, producers and workers. Load of the machine when it began:
${on.loadBefore}. ${size.rounds} interleaved rounds, ${number(size.jobs)} no-op jobs of about 100 bytes (slow peers fewer), ${number(size.beside)} to drain beside.
Medians; ± is half the spread. Postgres with fsync and synchronous_commit on, tables analyzed for everybody. Only ratios within this run count.

${versions.join(', ')}.

![pawl beside its peers](${picture})

## Results

${asMarkdown(results(summary, scenarios))}

${notes.join('\n')}

## Bars

${asMarkdown(bars(summary))}

## Costs per job

${asMarkdown(costs(summary, scenarios))}
`
}

const CHARTED = ['bulk-enqueue', 'single-enqueue-64', 'drain-1', 'drain-2', 'together', 'latency']

function charts(summary: Summary, scenarios: readonly Scenario[]): readonly Chart[] {
  return scenarios
    .filter(({ name }) => CHARTED.includes(name))
    .map(({ name, title, unit, figure, contenders }) => ({
      title: `${title} (${unit})`,
      bars: contenders.flatMap((label: ContenderName) => {
        const value = summary.median(name, label, figure)
        return value === undefined ? [] : [{ label, value, text: number(value) }]
      }),
    }))
}
