import { describe, expect, it } from 'vitest'
import { verdicts } from '../../bench/bars.ts'
import { type ContenderName, PEERS } from '../../bench/contenders.ts'
import { type Options, optionsFrom } from '../../bench/options.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { FULL } from '../../bench/size.ts'
import { summaryOf } from './cells.ts'

const asked = (...args: string[]): Options => {
  const options = optionsFrom(args)
  if (options === undefined) throw new Error('help?')
  return options
}
const named = ({ plan }: Options) => plan.map(({ scenario }) => scenario.name)

const ROUNDS: Readonly<Record<string, number>> = {
  left: 1,
  'long-job': 1,
  idle: 1,
  'day-spread': 1,
  'day-at-once': 1,
  bus: 1,
  'bus-latency': 1,
  latency: 5,
  'latency-beside-500': 5,
  'drain-2': 5,
}

describe('the options of the benchmark', () => {
  it('are everything, beside everybody, three times', () => {
    const options = asked()
    expect(named(options)).toEqual(SCENARIOS.map(({ name }) => name))
    expect(options).toMatchObject({ mode: 'full', json: false, size: FULL })
    for (const { scenario, contenders, rounds } of options.plan) {
      expect(contenders).toEqual(scenario.contenders)
      expect(rounds).toBe(ROUNDS[scenario.name] ?? 3)
    }
  })

  it('leave the slow peers and what has no bar out of a quick run, and no bar', () => {
    const options = asked('--quick', '--json')
    expect(options).toMatchObject({ mode: 'quick', json: true })
    const everything = {
      perSecond: 1,
      walBytes: 1,
      serverUs: 1,
      pages: 1,
      p50: 1,
      p95: 1,
      p99: 1,
      coreShare: 1,
      statements: 1,
    }
    const plain = { plainPerSecond: 1, plainServerUs: 1, plainPages: 1, plainP99: 1 }
    const measured = (plan: Options['plan']) =>
      summaryOf(
        Object.fromEntries(
          plan.map(({ scenario, contenders }) => [
            scenario.name,
            Object.fromEntries(contenders.map((name: ContenderName) => [name, [{ ...everything, ...plain }]])),
          ]),
        ),
      )
    const bars = (plan: Options['plan']) => verdicts(measured(plan)).map(({ bar }) => bar.name)
    expect(bars(options.plan)).toEqual(bars(asked().plan))
  })

  it('take some scenarios, some peers, and another number of rounds', () => {
    const options = asked('--quick', '--only', 'drain-2,latency', '--peers', 'dbos', '--rounds', '5')
    expect(options.plan.map(({ contenders, rounds }) => [contenders, rounds])).toEqual([
      [['pawl', 'pawl-work', 'dbos'], 5],
      [['pawl', 'dbos'], 5],
    ])
  })

  it('take how much there is to stand beside', () => {
    expect(asked('--beside', '10000000').size).toEqual({ ...FULL, beside: 10_000_000 })
  })

  it('refuse what nobody knows', () => {
    expect(() => asked('--only', 'drian-1')).toThrow(/drian-1 is unknown. There are .*drain-1/)
    expect(() => asked('--peers', 'pawl')).toThrow(new RegExp(`There are ${PEERS.join(', ')}`))
    expect(() => asked('--rounds', 'many')).toThrow('--rounds: many is not a whole number')
    expect(() => asked('--beside', '0')).toThrow('--beside: 0 is not a whole number')
    expect(optionsFrom(['--help'])).toBeUndefined()
  })

  it('take a commit to be compared with: pawl then and now, seven times, and nobody else unless named', () => {
    const options = asked('--against', 'abc', '--only', 'drain-1,embedded,http')
    expect(options).toMatchObject({ mode: 'full', against: 'abc' })
    expect(options.plan.map(({ contenders, rounds }) => [contenders, rounds])).toEqual([
      [['pawl', 'pawl-before'], 7],
      [['pawl', 'pawl-before'], 7],
      [['pawl-sqlite', 'pawl-sqlite-before'], 7],
    ])
    const beside = asked('--against', 'abc', '--only', 'drain-1', '--peers', 'pg-boss', '--rounds', '2')
    expect(beside.plan).toMatchObject([{ contenders: ['pawl', 'pawl-before', 'pg-boss'], rounds: 2 }])
    expect(asked().against).toBeUndefined()
  })
})
