/** What is explored: each of the small worlds of jobs, the life of a key, the hall where held jobs wait, and a ledger with its servers. */
import { CONFIGURATIONS, type Scale } from './configuration.ts'
import { loadCore } from './core.ts'
import { type Exploration, explore } from './explore.ts'
import { exploreAccounts } from './flow/accounts.ts'
import { exploreAgeing } from './flow/ageing.ts'
import { exploreKeys } from './flow/explore-keys.ts'
import { loadFlowCore } from './flow/flow-core.ts'
import { walk } from './flow/walks.ts'
import { exploreLedger } from './ledger/explore-ledger.ts'
import { walkLedger } from './ledger/ledger-walks.ts'
import { loadProtocol } from './ledger/protocol.ts'

export interface Subject {
  readonly name: string
  readonly about: string
  readonly explore: (sources: URL, scale: Scale, statesMax: number) => Promise<Exploration>
}

export const SUBJECTS: readonly Subject[] = [
  ...CONFIGURATIONS.map((configuration) => ({
    name: configuration.name,
    about: configuration.about,
    explore: async (sources: URL, scale: Scale, statesMax: number) =>
      explore(await loadCore(sources), configuration, scale, statesMax),
  })),
  {
    name: 'keys',
    about: 'the life of a key: pushed back, broken, probed, healed',
    explore: async (sources, scale) => exploreKeys(await loadFlowCore(sources), scale),
  },
  {
    name: 'hall',
    about: 'random walks: who is let in, by slots, rates, budgets, turns',
    explore: async (sources, scale) => walk(await loadFlowCore(sources), scale),
  },
  {
    name: 'accounts',
    about: 'turns of two accounts, however many flows each has, at a key and at a lane',
    explore: async (sources) => exploreAccounts(await loadFlowCore(sources)),
  },
  {
    name: 'ageing',
    about: 'a flood of what is urgent, and how long others wait behind it',
    explore: async (sources) => exploreAgeing(await loadFlowCore(sources)),
  },
  {
    name: 'ledger',
    about: 'two Redis servers and the ledger behind them: lost, taken back, promoted, joined',
    explore: async (sources, scale, statesMax) => exploreLedger(await loadProtocol(sources), scale, statesMax),
  },
  {
    name: 'ledger-walks',
    about: 'random walks through the same, with many faults; then everything heals',
    explore: async (sources, scale) => walkLedger(await loadProtocol(sources), scale),
  },
]

export function subjectNamed(name: string): Subject {
  const found = SUBJECTS.find((subject) => subject.name === name)
  if (found === undefined) throw new Error(`nothing to explore is called ${name}`)
  return found
}
