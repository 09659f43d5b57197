/** What may be said on the command line, and what is played because of it. */
import { parseArgs } from 'node:util'
import { BEFORE, type ContenderName, PEERS } from './contenders.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { FULL, QUICK, type Size, TINY } from './size.ts'

export const USAGE = `npm run bench -- [options]

  --quick              about fifteen minutes: fewer jobs, every bar once or more, beside whoever may decide it
  --tiny               a few minutes: to see that everything runs; nothing is written
  --only a,b           these scenarios
  --peers a,b          beside these
  --rounds n           so often, interleaved
  --beside n           so many finished, delayed, parked or queued jobs to stand beside
  --against commit     beside pawl as it was then, seven times; peers only where they are named. Nothing is written;
                       fails where a job costs over 5 % more CPU or log than it did, and where one of both has no figures
  --json               as the last line, JSON: the ratios by scenario name, and the bars

scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
peers:     ${PEERS.join(', ')}`

export interface Options {
  readonly mode: Mode
  readonly size: Size
  readonly plan: readonly Play[]
  readonly json: boolean
  /** The commit that pawl is compared with. */
  readonly against: string | undefined
}

export type Mode = 'full' | 'quick' | 'tiny'

/** One scenario: who plays it, and how often. */
export interface Play {
  readonly scenario: Scenario
  readonly contenders: readonly ContenderName[]
  readonly rounds: number
}

/**
 * Each bar, beside the peers that came near the best of their kind in full runs; what is judged by itself is played
 * fewer times. The others tell nothing new, and take most of the time.
 */
const QUICK_PLAN: Readonly<Record<string, { readonly rounds: number; readonly peers: readonly ContenderName[] }>> = {
  'bulk-enqueue': { rounds: 3, peers: ['graphile-worker', 'pg-boss'] },
  'keyed-bulk': { rounds: 3, peers: ['graphile-worker', 'pg-boss'] },
  'single-enqueue-1': { rounds: 3, peers: ['bullmq-redis'] },
  'single-enqueue-64': { rounds: 3, peers: ['openworkflow', 'bullmq-redis'] },
  'drain-1': { rounds: 3, peers: ['graphile-worker', 'bullmq-redis'] },
  'drain-2': { rounds: 3, peers: ['graphile-worker'] },
  together: { rounds: 3, peers: ['graphile-worker', 'bullmq-redis'] },
  steps: { rounds: 3, peers: ['openworkflow'] },
  retries: { rounds: 3, peers: ['graphile-worker', 'pg-boss'] },
  signals: { rounds: 3, peers: [] },
  'payload-8k': { rounds: 3, peers: ['graphile-worker', 'pg-boss'] },
  'many-queues': { rounds: 1, peers: [] },
  limited: { rounds: 3, peers: ['pg-boss'] },
  'limited-full': { rounds: 3, peers: [] },
  latency: { rounds: 3, peers: ['graphile-worker', 'bullmq-redis'] },
  'latency-beside-half': { rounds: 3, peers: [] },
  'latency-beside-500': { rounds: 3, peers: ['graphile-worker', 'pg-boss'] },
  'held-snapshot': { rounds: 3, peers: [] },
  http: { rounds: 1, peers: [] },
  bus: { rounds: 1, peers: [] },
  'bus-latency': { rounds: 1, peers: [] },
  embedded: { rounds: 3, peers: [] },
  heartbeats: { rounds: 1, peers: [] },
  idle: { rounds: 1, peers: [] },
  'beside-finished': { rounds: 1, peers: [] },
  'beside-delayed': { rounds: 1, peers: [] },
  'beside-parked': { rounds: 1, peers: [] },
  'signals-parked': { rounds: 1, peers: [] },
  'beside-queued': { rounds: 1, peers: [] },
}

/** A median of seven moves less than the 5 % that are looked for; of three it does not. */
const AGAINST_ROUNDS = 7

/** undefined: help was asked for. */
export function optionsFrom(args: readonly string[]): Options | undefined {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: flag,
      tiny: flag,
      json: flag,
      help: flag,
      only: text,
      peers: text,
      rounds: text,
      beside: text,
      against: text,
    },
  })
  if (values.help) return undefined
  const { against } = values
  const mode = values.tiny ? 'tiny' : values.quick ? 'quick' : 'full'
  const size = { full: FULL, quick: QUICK, tiny: TINY }[mode]
  const rounds = counted('--rounds', values.rounds)
  const beside = counted('--beside', values.beside) ?? size.beside
  const known = SCENARIOS.map(({ name }) => name)
  const names = chosen('--only', values.only, known) ?? (mode === 'quick' ? Object.keys(QUICK_PLAN) : known)
  const peers = chosen('--peers', values.peers, PEERS)
  const plan = SCENARIOS.filter(({ name }) => names.includes(name)).map((scenario) => {
    const quick = mode === 'quick' ? QUICK_PLAN[scenario.name] : undefined
    if (against !== undefined) {
      return { scenario, contenders: beforeAndNow(scenario, peers ?? []), rounds: rounds ?? AGAINST_ROUNDS }
    }
    const others = peers ?? quick?.peers ?? PEERS
    // On Redis pawl is measured beside whom it would replace there.
    const plays = (name: ContenderName) =>
      isOnRedis(name) ? others.includes('bullmq-redis') : !isPeer(name) || others.includes(name)
    return {
      scenario,
      contenders: scenario.contenders.filter(plays),
      rounds: rounds ?? quick?.rounds ?? (mode === 'full' ? scenario.rounds : undefined) ?? size.rounds,
    }
  })
  return { mode, size: { ...size, beside, rounds: rounds ?? size.rounds }, plan, json: values.json, against }
}

const beforeAndNow = ({ contenders }: Scenario, peers: readonly ContenderName[]): readonly ContenderName[] =>
  contenders.flatMap((name) => {
    if (name === 'pawl' || name === 'pawl-sqlite') return [name, BEFORE[name]]
    return peers.includes(name) ? [name] : []
  })

const isOnRedis = (name: ContenderName): boolean => name === 'pawl-redis' || name === 'pawl-redis-ledger'
const isPeer = (name: ContenderName): boolean => (PEERS as readonly ContenderName[]).includes(name)

function counted(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const count = Number(given)
  if (!Number.isInteger(count) || count < 1) throw new Error(`${flag}: ${given} is not a whole number`)
  return count
}

function chosen<Name extends string>(
  flag: string,
  given: string | undefined,
  known: readonly Name[],
): readonly Name[] | undefined {
  if (given === undefined) return undefined
  const wanted = given.split(',').filter((name) => name !== '')
  const strange = wanted.find((name) => !known.includes(name as Name))
  if (strange !== undefined) throw new Error(`${flag}: ${strange} is unknown. There are ${known.join(', ')}.`)
  return known.filter((name) => wanted.includes(name))
}
