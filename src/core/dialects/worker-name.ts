/**
 * Which worker it was. What is dispatched to a pool is held in the pool's name, because which of its workers it will be is
 * known when that one starts; a document that asks for the worker is told that one, and never the pool.
 */
import type { Annotation, Event } from '../event.ts'
import type { Job } from '../job.ts'

const POOL = 'pool:'
const WORKER = 'worker:'

/** In whose name a pool holds what it was dispatched. */
export const poolHolder = (pool: string): string => `${POOL}${pool}`

const unlessPool = (workerId: string | undefined): string | undefined =>
  workerId?.startsWith(POOL) === true ? undefined : workerId

/** The one whose claim was the last; undefined where that was a pool's. */
export const lastWorkerOf = ({ lastClaim }: Job): string | undefined => unlessPool(lastClaim?.owner.workerId)

/** Whether only the log can say who it was. */
export const isNamedByStart = (job: Job): boolean => job.lastClaim !== undefined && lastWorkerOf(job) === undefined

/** The same job, its last claim that of the worker who began with it; as it is, where nobody did. */
export function namedBy(job: Job, log: readonly Event[]): Job {
  const start = log.findLast((event) => event.type === 'started' && isOf(event, job))
  if (job.lastClaim === undefined || start === undefined) return job
  return { ...job, lastClaim: { ...job.lastClaim, owner: { workerId: withoutRole(start.actor) } } }
}

/** Who sent a late word: the worker whose attempt it names, and of a pool's the one that says so. */
export function lateWorkerOf(word: Annotation, log: readonly Event[]): string {
  const claim = log.findLast((event) => event.type === 'claimed' && isOf(event, word))
  const claimer = claim?.type === 'claimed' ? unlessPool(claim.payload.owner.workerId) : undefined
  return claimer ?? withoutRole(word.actor)
}

type Attempt = Pick<Event, 'generation' | 'attempt'>

const isOf = (event: Attempt, { generation, attempt }: Attempt): boolean =>
  event.generation === generation && event.attempt === attempt

const withoutRole = (actor: string): string => (actor.startsWith(WORKER) ? actor.slice(WORKER.length) : actor)
