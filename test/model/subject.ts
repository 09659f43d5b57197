/** What is explored: each of the small worlds of jobs, the life of a key, and the hall where held jobs wait. */
import { CONFIGURATIONS, type Scale } from './configuration.ts'
import { loadCore } from './core.ts'
import { type Exploration, explore } from './explore.ts'
import { exploreKeys } from './flow/explore-keys.ts'
import { loadFlowCore } from './flow/flow-core.ts'
import { walk } from './flow/walks.ts'

export interface Subject {
  readonly name: string
  readonly about: string
  readonly explore: (core: URL, scale: Scale, statesMax: number) => Promise<Exploration>
}

export const SUBJECTS: readonly Subject[] = [
  ...CONFIGURATIONS.map((configuration) => ({
    name: configuration.name,
    about: configuration.about,
    explore: async (core: URL, scale: Scale, statesMax: number) =>
      explore(await loadCore(core), configuration, scale, statesMax),
  })),
  {
    name: 'keys',
    about: 'the life of a key: pushed back, broken, probed, healed',
    explore: async (core, scale) => exploreKeys(await loadFlowCore(core), scale),
  },
  {
    name: 'hall',
    about: 'random walks: who is let in, by slots, rates, budgets, turns',
    explore: async (core, scale) => walk(await loadFlowCore(core), scale),
  },
]

export function subjectNamed(name: string): Subject {
  const found = SUBJECTS.find((subject) => subject.name === name)
  if (found === undefined) throw new Error(`nothing to explore is called ${name}`)
  return found
}
