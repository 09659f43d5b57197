/** Many jobs over HTTP: how they are asked for, and what is told of them. */
import type { Job } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import { jobFromWire, type Wire } from '../gateway/contract/wire.ts'
import type { JobQuery } from '../store/store.ts'
import { queryText } from './path.ts'

/** `words`: a search besides, and in which order. */
export function pathToJobs(
  query: JobQuery,
  words: { readonly q?: string | undefined; readonly sort?: string } = {},
): string {
  const { tenant: _, states, queues, types, labels, createdFrom, createdTo, ...others } = query
  const { endedBefore: __, roughlyBornBefore: ___, longEnded: ____, ...rest } = others
  const parameters = {
    ...rest,
    ...words,
    state: states?.join(','),
    queue: queues?.join(','),
    type: types?.join(','),
    createdFrom: createdFrom === undefined ? undefined : new Date(createdFrom).toISOString(),
    createdTo: createdTo === undefined ? undefined : new Date(createdTo).toISOString(),
    policy: 'true',
  }
  const label = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`)
  return `/v1/jobs?${queryText(parameters, { label })}`
}

export const jobsIn = (body: Wire): readonly Job[] =>
  (body['jobs'] as readonly Wire[]).map((wire) => jobFromWire(wire, wire['policy'] as Policy))
