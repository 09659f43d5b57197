/** Who takes jobs of a queue, by what workers have told of themselves. */
import { isReserved, type Worker } from '../api/wire.ts'

/** Those that are there and name it. One that tells of no queue serves none, as the engine has it when it explains a job. */
export const servingOf = (workers: readonly Worker[], queue: string): readonly Worker[] =>
  workers.filter(({ present, queues = [] }) => present && queues.includes(queue))

/** pawl's own queues are served by gateways and workers alike, which announce nothing of it. */
export const isAlone = (workers: readonly Worker[], queue: string): boolean =>
  !isReserved(queue) && servingOf(workers, queue).length === 0
