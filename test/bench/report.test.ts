import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expected } from '../../bench/expected.ts'
import { optionsFrom } from '../../bench/options.ts'
import { charts } from '../../bench/report/charts.ts'
import { markdown } from '../../bench/report/markdown.ts'
import { asLine, resultOf } from '../../bench/report/result.ts'
import { quote, quotedIn, resultToQuote } from '../../bench/report/speed.ts'
import { svg } from '../../bench/report/svg.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { rates, summaryOf } from './cells.ts'

const on = {
  at: '2026-01-02T03:04:05.678Z',
  commit: 'abc',
  processor: 'abacus',
  cores: 2,
  memoryGib: 4,
  loadBefore: 0.1,
  versions: { postgres: '15.1' },
}
const summary = summaryOf({
  'bulk-enqueue': {
    pawl: [{ perSecond: 300, walBytes: 450, serverUs: 8, nodeUs: 7 }],
    'pg-boss': [{ perSecond: 200, walBytes: 700, serverUs: 20, nodeUs: 3 }],
  },
  'drain-1': {
    pawl: [{ perSecond: 100, walBytes: 550, serverUs: 13, nodeUs: 11 }],
    'pg-boss': [{ perSecond: 200, walBytes: 700, serverUs: 20, nodeUs: 3 }],
    'bare-sql': rates(200),
  },
  latency: { pawl: [{ p50: 1.5, p95: 3, p99: 5 }], 'pg-boss': [{ p50: 3, p95: 4, p99: 5 }] },
  'day-spread': { pawl: [{ jobs: 1_000, serverUs: 250, nodeUs: 300, walBytes: 2_097_152, diskBytes: 4_096 }] },
  'long-job': { pawl: [{ perSecond: 500, lastOverFirst: 1.25 }] },
})
const options = optionsFrom([]) ?? expect.unreachable()
const contenders = { pawl: { configuration: 'defaults', keeps: 'everything' } }
const result = resultOf(summary, options, on, contenders)

describe('the report', () => {
  it('is one line for programs: ratios by scenario, more than 1 is ahead; and the bars', () => {
    const line = asLine(result)
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toEqual({
      'bulk-enqueue': 1.5,
      'drain-1': 0.5,
      latency: 2,
      bars: {
        'bulk-enqueue': { value: 1.5, limit: 1.5, met: true },
        'drain-1': { value: 0.5, limit: 1.4, met: false },
        'latency-p50': { value: 0.5, limit: 1, met: true },
        'latency-p95': { value: 0.75, limit: 1, met: true },
        'bare-sql': { value: 0.5, limit: 0.6, met: false },
      },
    })
  })

  it('is a page with the machine, the versions, the costs beside the budget and who was measured', () => {
    const page = markdown(summary, options.plan, result, 'x.svg')
    expect(page).toContain('2 × abacus, 4 GiB')
    expect(page).toContain('postgres 15.1')
    expect(page).toContain('|  | pawl | bare-sql | pg-boss | pawl ÷ best peer | share of bare SQL |')
    expect(page).toContain('| drain, 1 worker process (jobs/s) | 100 | 200 | 200 | 0.50 | 0.50 |')
    expect(page).toMatch(/bulk enqueue .* \| 1\.50 \| {2}\|/)
    expect(page).toContain('| Node CPU µs, bulk enqueue | 7.00 | 6.00 | exceeded |')
    expect(page).toContain('| WAL B, both | 1,000 | 1,100 | kept |')
    expect(page).toContain('| pawl | defaults | everything |')
    expect(page).toMatch(/drain, 1 process × .* \| 0\.50 \| ≥ 1\.4 \| ≥ 2 \| not met \|/)
  })

  it('says what a day costs, and on how much of it that was measured', () => {
    const page = markdown(summary, options.plan, result, 'x.svg')
    expect(page).toContain('| a million jobs: 3 steps, 2 KB, 2 % fail once | spread, 100 a second |')
    expect(page).toContain('| server CPU, seconds | 250 |')
    expect(page).toContain('| Node CPU of producer and worker, seconds | 300 |')
    expect(page).toContain('| WAL, MB | 2,000,000 |')
    expect(page).toContain('| disk before vacuum, MB | 3,906 |')
    expect(page).toContain('| jobs it was measured on | 1,000 |')
  })

  it('says what is a figure of one scenario alone', () => {
    const page = markdown(summary, options.plan, result, 'x.svg')
    expect(page).toContain('| one job with 10,000 steps: time of the last tenth ÷ the second tenth | 1.25 |')
  })

  it('is a picture', () => {
    const picture = svg(charts(summary, SCENARIOS))
    expect(picture.match(/<g /g)).toHaveLength(3)
    expect(picture).toContain('ms, less is better')
    expect(picture).not.toMatch(/NaN|undefined|Infinity/)
  })
})

describe('what a cell is expected to take', () => {
  it('is what it took, in another round, or what pawl took', () => {
    const cell = { scenario: 'drain-1', contender: 'pawl', round: 1, figures: {}, seconds: 4 } as const
    const seconds = expected('full', [cell, { ...cell, contender: 'dbos', seconds: 9 }])
    expect(seconds('drain-1', 'dbos', 1)).toBe(9)
    expect(seconds('drain-1', 'dbos', 2)).toBe(9)
    expect(seconds('drain-1', 'pg-boss', 1)).toBe(4)
    expect(seconds('drain-2', 'pg-boss', 1)).toBeGreaterThan(0)
  })
})

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8')

  it('quotes the newest result that is kept', () => {
    // What somebody has measured since, and has not committed, is nobody's business.
    const { stdout, status } = spawnSync('git', ['ls-files', 'bench/results'], { encoding: 'utf8' })
    const kept =
      status === 0
        ? stdout
            .trim()
            .split('\n')
            .map((path) => basename(path))
        : readdirSync('bench/results')
    expect(quotedIn(readme)).toBe(`bench/results/${resultToQuote(kept)}`)
    const names = ['2026-01-02T0304.json', '2026-01-01T0304.json', '2026-01-03T0304-quick.json', '2026-01-04T0304.md']
    expect(resultToQuote(names)).toBe('2026-01-02T0304.json')
    expect(resultToQuote(names.slice(2))).toBe('2026-01-03T0304-quick.json')
  })

  it('says what that result says, the bars that were missed too: `node bench/quote.ts` writes it', () => {
    const file = quotedIn(readme) ?? expect.unreachable()
    expect(quote(readme, file, JSON.parse(readFileSync(file, 'utf8')))).toBe(readme)
  })

  it('would say something else of another result', () => {
    const said = quote(readme, 'other.json', result)
    expect(said).toContain('| drain, 1 worker process (jobs/s) | 100 | **200** |')
    expect(said).toContain('drain, 1 process × the fastest Postgres peer: 0.50 instead of 1.4')
    expect(said).toContain('| kept of a job that is over | everything |  |')
    expect(said).toContain('pawl is behind in:\n\n- drain, 1 worker process: pg-boss\n- Node CPU, drain: pg-boss\n')
  })
})
