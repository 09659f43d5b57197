/** What a realistic day costs: measured on a share of it, which is said, and multiplied. */
import type { Summary } from '../summary.ts'
import type { Table } from './table.ts'
import { number } from './tables.ts'

const JOBS = 1_000_000

const WAYS = [
  ['day-spread', 'spread, 100 a second'],
  ['day-at-once', 'all at once'],
] as const

/** Per million jobs, in units a bill has. */
const ROWS = [
  ['server CPU, seconds', 'serverUs', 1e6],
  ['Node CPU of producer and worker, seconds', 'nodeUs', 1e6],
  ['WAL, MB', 'walBytes', 2 ** 20],
  ['disk before vacuum, MB', 'diskBytes', 2 ** 20],
] as const

export function day(summary: Summary): Table {
  const ways = WAYS.filter(([scenario]) => summary.median(scenario, 'pawl', 'jobs') !== undefined)
  const rows = ROWS.map(([title, figure, unit]) => [
    title,
    ...ways.map(([scenario]) => number(((summary.median(scenario, 'pawl', figure) ?? Number.NaN) * JOBS) / unit)),
  ])
  const measured = ways.map(([scenario]) => number(summary.median(scenario, 'pawl', 'jobs')))
  const head = ['a million jobs: 3 steps, 2 KB, 2 % fail once', ...ways.map(([, words]) => words)]
  return { head, rows: ways.length === 0 ? [] : [...rows, ['jobs it was measured on', ...measured]] }
}
