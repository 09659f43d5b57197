/** One of the two processors: explores what it is given, a configuration or a mutant at a time. */
import { parentPort } from 'node:worker_threads'
import type { Scale } from './configuration.ts'
import { SHIPPED } from './core.ts'
import type { Exploration } from './explore.ts'
import type { Mutant } from './mutants/mutant.ts'
import { MUTANTS } from './mutants.ts'
import { mutate } from './mutate.ts'
import { subjectNamed } from './subject.ts'

export type Task =
  | { readonly kind: 'configuration'; readonly name: string; readonly scale: Scale; readonly statesMax: number }
  | { readonly kind: 'mutant'; readonly name: string; readonly statesMax: number }

export interface Report {
  readonly task: Task
  readonly exploration: Exploration | undefined
  /** Why it could not be explored at all. */
  readonly error: string | undefined
  readonly seconds: number
}

parentPort?.on('message', async (task: Task) => {
  const since = performance.now()
  let exploration: Exploration | undefined
  let error: string | undefined
  try {
    exploration = await run(task)
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  }
  const report: Report = { task, exploration, error, seconds: (performance.now() - since) / 1_000 }
  parentPort?.postMessage(report)
})

async function run(task: Task): Promise<Exploration> {
  if (task.kind === 'configuration') return subjectNamed(task.name).explore(SHIPPED, task.scale, task.statesMax)
  const mutant = MUTANTS.find(({ name }) => name === task.name) as Mutant
  const { explore } = subjectNamed(mutant.on)
  return mutate(mutant, (sources) => explore(sources, mutant.scale, task.statesMax))
}
