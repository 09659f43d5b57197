/** What a search means, word for word: for stores that look at records one by one. */
import type { Job } from '../core/job.ts'
import { askedOf } from '../core/recast.ts'
import type { JobQuery } from './store.ts'

export function matches(job: Job, query: JobQuery): boolean {
  const { spec, state, error, lastFailure, endedAt } = job
  const { tenant, queue, type } = askedOf(job).kind
  return (
    is(query.tenant, tenant) &&
    among(query.states, state) &&
    among(query.queues, queue) &&
    among(query.types, type) &&
    is(query.correlationId, spec.correlationId) &&
    is(query.parentId, spec.parentId) &&
    is(query.workflowId, spec.workflowId) &&
    is(query.dedupeKey, spec.dedupeKey) &&
    is(query.code, (error ?? lastFailure)?.code) &&
    spec.createdAt >= (query.createdFrom ?? Number.NEGATIVE_INFINITY) &&
    spec.createdAt < (query.createdTo ?? Number.POSITIVE_INFINITY) &&
    (query.endedBefore === undefined || (endedAt !== undefined && endedAt < query.endedBefore)) &&
    labelled(spec.labels, query.labels)
  )
}

const is = (wanted: string | undefined, found: string | undefined): boolean => wanted === undefined || wanted === found

const among = <T>(wanted: readonly T[] | undefined, found: T): boolean => wanted === undefined || wanted.includes(found)

type Labels = Readonly<Record<string, string>>

const labelled = (found: Labels | undefined, wanted: Labels | undefined): boolean =>
  Object.entries(wanted ?? {}).every(
    ([name, value]) => found !== undefined && Object.hasOwn(found, name) && found[name] === value,
  )
