/** Every scenario runs to its end with pawl alone, a few jobs each: the figures mean nothing, that there are any does. */
import { afterAll, expect, it, vi } from 'vitest'
import { verdicts } from '../../bench/bars.ts'
import { measure } from '../../bench/measure.ts'
import type { Play } from '../../bench/options.ts'
import { besideFinished } from '../../bench/scenarios/beside.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { TINY } from '../../bench/size.ts'
import { natsMissing, pgbouncerMissing, redisMissing } from '../support/debian.ts'
import { scaled, soaking } from '../support/scale.ts'

const FEW = {
  ...TINY,
  least: 20,
  warm: 20,
  jobs: 40,
  warmMs: 100,
  singlesMs: 100,
  togetherMs: 200,
  latencyMs: 300,
  beside: 40,
  running: 20,
  heartbeatsMs: 200,
  steps: 20,
  claimers: 4,
  queues: 10,
  idleMs: 300,
}
/** In the gate on Postgres alone: what a scenario does is the same wherever pawl keeps its jobs. */
const PAWL: readonly string[] = soaking
  ? ['pawl', 'pawl-sqlite', ...(redisMissing() === undefined ? ['pawl-redis', 'pawl-redis-ledger'] : [])]
  : ['pawl']
/** Twins of others, with more of something or beside something else: the soak's. What is beside finished jobs has a test below. */
const TWINS: ReadonlySet<string> = new Set([
  'single-enqueue-64',
  'drain-2',
  'payload-1m',
  'latency-beside-500',
  'held-snapshot',
  'embedded',
  'bus',
  'bus-latency',
  'day-at-once',
  'left',
  'beside-finished',
  'beside-delayed',
  'beside-parked',
  'beside-queued',
])
/** Seconds where nothing else runs. */
const WITHIN_MS = 600_000
const DEEP_WITHIN_MS = scaled(600_000, 90 * 60_000)

// Before anything of the bench is imported: where pawl is taken from, and who is a process of its own, is read once.
vi.hoisted(() => {
  process.env['PAWL_BENCH_SMOKE'] = '1'
})

afterAll(() => {
  delete process.env['PAWL_BENCH_SMOKE']
})

it(
  'every scenario has its figure, and every bar that is about pawl alone its verdict',
  async ({ annotate }) => {
    const missing = pgbouncerMissing()
    if (missing !== undefined) await annotate(missing)
    const plan: readonly Play[] = SCENARIOS.filter(
      ({ name }) =>
        (soaking || !TWINS.has(name)) &&
        (missing === undefined || name !== 'pgbouncer') &&
        (natsMissing() === undefined || !name.startsWith('bus')),
    ).map((scenario) => ({
      scenario,
      contenders: scenario.contenders.filter((name) => PAWL.includes(name)),
      rounds: 1,
    }))
    const summary = await measure({ mode: 'tiny', size: FEW, plan })
    expect(summary.cells.filter(({ failed }) => failed !== undefined)).toEqual([])
    for (const { scenario, contenders } of plan) {
      for (const contender of contenders) {
        expect(summary.median(scenario.name, contender, scenario.figure), scenario.name).toBeGreaterThanOrEqual(0)
      }
    }
    const judged = verdicts(summary).map(({ bar }) => bar.name)
    for (const name of ['http', 'signals', 'idle', 'latency-beside-half-p99']) expect(judged).toContain(name)
    // Of so few jobs the server's CPU may be none, and then there is no ratio; but both sides were measured.
    for (const name of ['signals-parked', 'many-queues', ...(soaking ? ['beside-finished'] : [])]) {
      expect(summary.median(name, 'pawl', 'serverUs'), name).toBeGreaterThanOrEqual(0)
      expect(summary.median(name, 'pawl', 'plainServerUs'), name).toBeGreaterThanOrEqual(0)
    }
  },
  WITHIN_MS,
)

it(
  'a drain beside many that have ended reads no more pages for it, ten million of them in soak',
  async () => {
    const size = {
      ...FEW,
      warm: scaled(1_000, 2_000),
      jobs: scaled(4_000, 8_000),
      beside: scaled(2_000, 10_000_000),
      cellMs: TINY.cellMs * 2,
    }
    const plan = [{ scenario: besideFinished, contenders: ['pawl'] as const, rounds: 1 }]
    const summary = await measure({ mode: 'tiny', size, plan })
    expect(summary.cells.filter(({ failed }) => failed !== undefined)).toEqual([])
    expect(summary.overPlain(besideFinished.name, 'pawl', 'pages')).toBeLessThanOrEqual(1.1)
    // A level more is a page more for each look-up: four are enough for a thousand million rows.
    expect(summary.median(besideFinished.name, 'pawl', 'depth')).toBeLessThanOrEqual(3)
  },
  DEEP_WITHIN_MS,
)
