/**
 * The walking skeleton: enqueue → claim → settle through the store's port, with core deciding and one loop around it,
 * beside bare SQL on the same tables and beside graphile-worker. Only ratios within one run count.
 *
 *     node bench/skeleton/drain.ts [jobs] [rounds]      PAWL_BENCH_POSTGRES_URL, or a server of its own
 */
import { sharedPostgresUrl, stopOwnPostgres } from '../../test/support/postgres.ts'
import { bare } from './bare.ts'
import { graphile } from './graphile.ts'
import { type Figures, Meter } from './meter.ts'
import { skeleton } from './skeleton.ts'

const jobs = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 3)
const url = process.env['PAWL_BENCH_POSTGRES_URL'] ?? (await sharedPostgresUrl())

const contenders = { bare, pawl: skeleton, graphile }
const figures = new Map<string, Figures[]>()
for (let round = 0; round < rounds; round += 1) {
  for (const [name, run] of Object.entries(contenders)) {
    await using meter = await Meter.open(url)
    for (const [phase, figure] of Object.entries(await run(meter, jobs))) {
      const key = `${name} ${phase}`
      figures.set(key, [...(figures.get(key) ?? []), figure])
    }
  }
}
console.log(`${jobs} jobs, medians of ${rounds}`)
console.log('                     jobs/s   WAL B/job   server µs/job   Node µs/job')
const speed = (name: string) => median((figures.get(name) ?? []).map(({ perSecond }) => perSecond))
for (const [name, all] of figures) {
  const column = (pick: (f: Figures) => number, width: number, digits = 0) =>
    median(all.map(pick)).toFixed(digits).padStart(width)
  console.log(
    name.padEnd(18) +
      column((f) => f.perSecond, 9) +
      column((f) => f.walBytes, 12) +
      column((f) => f.serverUs, 16, 1) +
      column((f) => f.nodeUs, 14, 1),
  )
}
const wal = (name: string) =>
  ['enqueue', 'drain'].reduce(
    (sum, phase) => sum + median((figures.get(`${name} ${phase}`) ?? []).map((f) => f.walBytes)),
    0,
  )
const ratio = (text: string, value: number, bar: string) =>
  console.log(`${text.padEnd(46)} ${value.toFixed(2)}  (${bar})`)
ratio('drain, pawl / graphile', speed('pawl drain') / speed('graphile drain'), '≥ 1.4')
ratio('bulk enqueue, pawl / graphile', speed('pawl enqueue') / speed('graphile enqueue'), '≥ 1.5')
ratio('WAL per job, pawl / graphile', wal('pawl') / wal('graphile'), '≤ 1.0')
ratio('drain, pawl / bare SQL', speed('pawl drain') / speed('bare drain'), '≥ 0.6')
await stopOwnPostgres()

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
