/** What may be said on the command line. */
import { parseArgs } from 'node:util'
import { type ContenderName, PEERS } from './contenders.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { FULL, QUICK, type Size, TINY } from './size.ts'

export const USAGE = `npm run bench -- [options]

  --quick              a few minutes: fewer jobs, the fast peers and the main scenarios only
  --tiny               less than a minute per peer: to see that it runs; nothing is written
  --only a,b           these scenarios
  --peers a,b          beside these
  --rounds n           so often, interleaved
  --json               the ratios by scenario name as one line of JSON at the end

scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
peers:     ${PEERS.join(', ')}`

export interface Options {
  readonly mode: 'full' | 'quick' | 'tiny'
  readonly size: Size
  readonly scenarios: readonly Scenario[]
  readonly peers: readonly ContenderName[]
  readonly json: boolean
}

/** The slow ones tell nothing new, and take most of the time. */
const QUICK_PEERS = ['graphile-worker', 'pg-boss'] as const satisfies readonly ContenderName[]
const QUICK_SCENARIOS = [
  'bulk-enqueue',
  'single-enqueue-64',
  'drain-1',
  'drain-2',
  'together',
  'latency',
  'held-snapshot',
  'embedded',
  'heartbeats',
]

/** undefined: help was asked for. */
export function optionsFrom(args: readonly string[]): Options | undefined {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { quick: flag, tiny: flag, json: flag, help: flag, only: text, peers: text, rounds: text },
  })
  if (values.help) return undefined
  const mode = values.tiny ? 'tiny' : values.quick ? 'quick' : 'full'
  const size = { full: FULL, quick: QUICK, tiny: TINY }[mode]
  const rounds = values.rounds === undefined ? size.rounds : Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: ${values.rounds} is not a whole number`)
  const known = SCENARIOS.map(({ name }) => name)
  const names = chosen('--only', values.only, known, mode === 'quick' ? QUICK_SCENARIOS : known)
  return {
    mode,
    size: { ...size, rounds },
    scenarios: SCENARIOS.filter(({ name }) => names.includes(name)),
    peers: chosen('--peers', values.peers, PEERS, mode === 'quick' ? QUICK_PEERS : PEERS),
    json: values.json,
  }
}

function chosen<Name extends string>(
  flag: string,
  given: string | undefined,
  known: readonly Name[],
  unless: readonly Name[] = known,
): readonly Name[] {
  if (given === undefined) return unless
  const wanted = given.split(',').filter((name) => name !== '')
  const strange = wanted.find((name) => !known.includes(name as Name))
  if (strange !== undefined) throw new Error(`${flag}: ${strange} is unknown. There are ${known.join(', ')}.`)
  return known.filter((name) => wanted.includes(name))
}
