/** What the README says about speed: nothing but what a kept result says. */
import { verdicts } from '../bars.ts'
import { type ContenderName, PEERS } from '../contenders.ts'
import { Summary } from '../summary.ts'
import type { Result } from './result.ts'
import { asMarkdown } from './table.ts'
import { number } from './tables.ts'

/** Where it stands in the page; between them is the name of the result and what it says. */
const SECTION = /<!-- speed: (?<file>[^ ]+) -->\n[\s\S]*?<!-- \/speed -->/

export const quotedIn = (page: string): string | undefined => SECTION.exec(page)?.groups?.['file']

/** Of the results there are: the newest full run, or the newest quick one while there is no other. */
export function resultToQuote(files: readonly string[]): string | undefined {
  const results = files.filter((name) => name.endsWith('.json')).toSorted()
  return results.filter((name) => !name.includes('-quick')).at(-1) ?? results.at(-1)
}

export function quote(page: string, file: string, result: Result): string {
  if (!SECTION.test(page)) throw new Error('the page has no place for it')
  return page.replace(SECTION, () => `<!-- speed: ${file} -->\n${speed(file, result)}\n<!-- /speed -->`)
}

/** A row of the table: a title, and a figure for each, of which more or less is better. */
type Row = readonly [title: string, figure: (summary: Summary, who: ContenderName) => number | undefined, Better]
type Better = 'more' | 'less'

const rate = (scenario: string) => (summary: Summary, who: ContenderName) => summary.median(scenario, who)
const life = (figure: string) => (summary: Summary, who: ContenderName) => {
  const [enqueued, drained] = ['bulk-enqueue', 'drain-1'].map((scenario) => summary.median(scenario, who, figure))
  return enqueued === undefined || drained === undefined ? undefined : enqueued + drained
}

const ROWS: readonly Row[] = [
  ['single enqueue, 1 in flight (jobs/s)', rate('single-enqueue-1'), 'more'],
  ['single enqueue, 64 in flight (jobs/s)', rate('single-enqueue-64'), 'more'],
  ['bulk enqueue (jobs/s)', rate('bulk-enqueue'), 'more'],
  ['drain, 1 worker process (jobs/s)', rate('drain-1'), 'more'],
  ['drain, 2 worker processes (jobs/s)', rate('drain-2'), 'more'],
  ['producer and worker together (jobs/s)', rate('together'), 'more'],
  ['bulk enqueue, a dedupe key each (jobs/s)', rate('keyed-bulk'), 'more'],
  ['durable steps, 3 per job (steps/s)', rate('steps'), 'more'],
  ['jobs that fail once (jobs/s)', rate('retries'), 'more'],
  ['signals that resume a waiting job (signals/s)', rate('signals'), 'more'],
  ['drain, 8 KB payloads (jobs/s)', rate('payload-8k'), 'more'],
  ['latency, enqueue to handler, p50 (ms)', (summary, who) => summary.median('latency', who, 'p50'), 'less'],
  ['latency, enqueue to handler, p95 (ms)', (summary, who) => summary.median('latency', who, 'p95'), 'less'],
  ['WAL, whole life (B/job)', life('walBytes'), 'less'],
  ['server CPU, whole life (µs/job)', life('serverUs'), 'less'],
  ['Node CPU, drain (µs/job)', (summary, who) => summary.median('drain-1', who, 'nodeUs'), 'less'],
  ['disk, after completion (B/job)', (summary, who) => summary.median('left', who, 'diskBytes'), 'less'],
]

const COLUMNS = ['pawl', ...PEERS] as const

function speed(file: string, result: Result): string {
  const summary = new Summary(result.cells)
  const there = COLUMNS.filter((name) => result.cells.some(({ contender }) => contender === name))
  const rows = ROWS.flatMap(([title, figure, better]) => {
    const values = there.map((name) => figure(summary, name))
    if (values.every((value) => value === undefined)) return []
    const best = bestOf(values, better)
    const shown = values.map((value) =>
      value === best && value !== undefined ? `**${number(value)}**` : number(value),
    )
    return [[title, ...shown]]
  })
  const kept = there.map((name) => result.contenders?.[name]?.keeps ?? '')
  if (kept.some((words) => words !== '')) rows.push(['kept of a job that is over', ...kept])
  const { on } = result
  const page = file.replace(/json$/, 'md')
  return `[This ${result.mode} run](${page}) of ${on.at.slice(0, 10)} was made on ${on.cores} × ${on.processor}, shared by servers, producers and workers (load when
it began: ${on.loadBefore}); only ratios within it count.

${asMarkdown({ head: ['', ...there], rows })}
${embedded(summary)}
${behind(summary)}
${judged(summary)}`
}

function bestOf(values: readonly (number | undefined)[], better: Better): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return better === 'more' ? Math.max(...known) : Math.min(...known)
}

function embedded(summary: Summary): string {
  const value = summary.median('embedded', 'pawl-sqlite')
  return value === undefined ? '' : `\nEmbedded, on SQLite, pawl drains ${number(value)} jobs/s.\n`
}

/** Where we lose, it says so, and to whom. */
function behind(summary: Summary): string {
  const lost = ROWS.flatMap(([title, figure, better]) => {
    const own = figure(summary, 'pawl')
    if (own === undefined) return []
    const winners = PEERS.filter((peer) => bestOf([own, figure(summary, peer)], better) !== own)
    return winners.length === 0 ? [] : [`- ${title.replace(/ \([^)]*\)$/, '')}: ${winners.join(', ')}`]
  })
  return lost.length === 0 ? '' : `pawl is behind in:\n\n${lost.join('\n')}\n`
}

function judged(summary: Summary): string {
  const all = verdicts(summary).filter(({ bar }) => Number.isFinite(bar.limit) && bar.limit > 0)
  const missed = all.filter(({ met }) => !met)
  const words = missed.map(({ bar, value }) => `${bar.says}: ${value.toFixed(2)} instead of ${bar.limit}`)
  if (missed.length === 0) return `All ${all.length} bars that pawl sets itself were met.`
  return `Of the ${all.length} bars that pawl sets itself, these were missed:\n\n${words.map((each) => `- ${each}`).join('\n')}`
}
