import { statesBefore } from '../core/transitions.ts'
import type { Tally } from '../store/store.ts'
import { knows, type SeenWorker, serves } from './workers.ts'

export interface Unclaimable {
  readonly tenant: string
  readonly queue: string
  readonly type: string
  readonly count: number
}

/** Jobs that wait for a worker in queues which some serve, of types that none of those knows. */
export function unclaimable(tally: readonly Tally[], workers: readonly SeenWorker[]): readonly Unclaimable[] {
  const waiting = new Set(statesBefore('claim'))
  const counts = new Map<string, Unclaimable>()
  for (const { tenant, queue, jobType: type, state, count } of tally) {
    if (!waiting.has(state) || count === 0) continue
    const name = JSON.stringify([tenant, queue, type])
    counts.set(name, { tenant, queue, type, count: count + (counts.get(name)?.count ?? 0) })
  }
  return [...counts.values()].filter(({ tenant, queue, type }) => {
    const serving = workers.filter((worker) => worker.tenant === tenant && serves(worker, queue))
    return serving.length > 0 && !serving.some((worker) => knows(worker, type))
  })
}
