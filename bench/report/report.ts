/** Prints the tables, and writes them with what they were measured on: JSON, Markdown and a picture. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CONTENDERS, type ContenderName } from '../contenders.ts'
import type { Options } from '../options.ts'
import type { Summary } from '../summary.ts'
import { changesIn, compared, uncompared } from './changes.ts'
import { charts } from './charts.ts'
import { day } from './day.ts'
import { markdown } from './markdown.ts'
import { asLine, type Result, resultOf } from './result.ts'
import type { Surroundings } from './surroundings.ts'
import { svg } from './svg.ts'
import { asText } from './table.ts'
import { bars, budget, costs, found, results } from './tables.ts'

const RESULTS = new URL('../results/', import.meta.url)

export async function report(summary: Summary, options: Options, on: Surroundings): Promise<void> {
  const scenarios = options.plan.map(({ scenario }) => scenario)
  const changes = options.against === undefined ? undefined : changesIn(summary, scenarios)
  const tables =
    changes === undefined
      ? [
          results(summary, scenarios),
          costs(summary, scenarios),
          found(summary, scenarios),
          budget(summary),
          day(summary),
          bars(summary),
        ]
      : [compared(changes, options.against ?? '')]
  for (const table of tables) if (table.rows.length > 0) console.log(`\n${asText(table)}`)
  for (const { scenario, contender, round, failed } of summary.cells) {
    if (failed !== undefined) console.log(`${scenario}, ${contender}, round ${round}: ${failed}`)
  }
  if (changes !== undefined) {
    if (options.json) console.log(JSON.stringify(changes))
    const missing = uncompared(summary, scenarios)
    if (missing.length > 0) console.log(`not compared, as one of both has no figures: ${missing.join(', ')}`)
    if (missing.length > 0 || changes.some(({ verdict }) => verdict === 'dearer')) process.exitCode = 1
    return
  }
  const result = resultOf(summary, options, on, await contended(summary))
  if (options.mode !== 'tiny') console.log(`\nwritten to ${written(summary, options, result)}`)
  if (options.json) console.log(asLine(result))
}

async function contended(summary: Summary): Promise<Result['contenders']> {
  const names = [...new Set(summary.cells.map(({ contender }) => contender))]
  const facts = async (name: ContenderName) => {
    const { configuration, keeps } = await CONTENDERS[name]()
    return [name, { configuration, keeps }] as const
  }
  return Object.fromEntries(await Promise.all(names.map(facts)))
}

function written(summary: Summary, options: Options, result: Result): string {
  mkdirSync(RESULTS, { recursive: true })
  const name = `${result.on.at.slice(0, 19).replaceAll(':', '')}${options.mode === 'quick' ? '-quick' : ''}`
  const file = (ending: string) => new URL(`${name}.${ending}`, RESULTS)
  const scenarios = options.plan.map(({ scenario }) => scenario)
  writeFileSync(file('json'), `${JSON.stringify(result, null, 2)}\n`)
  writeFileSync(file('md'), markdown(summary, options.plan, result, `${name}.svg`))
  writeFileSync(file('svg'), svg(charts(summary, scenarios)))
  return fileURLToPath(file('md'))
}
