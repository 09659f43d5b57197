/**
 * Jobs by their names, as a list shows them: who has some on a screen asks how they are now, and which of them the search would
 * not find any more.
 */
import type { Job } from '../../core/job.ts'
import { isIn } from '../../core/recast.ts'
import type { Engine } from '../../engine/engine.ts'
import { isFound, type Narrowed } from '../../engine/search.ts'
import type { JobQuery } from '../../store/store.ts'
import type { Call, Parts } from '../call.ts'
import { lookedInto } from './inputs.ts'
import { paged, type Wanted } from './paged.ts'

export interface These {
  /** Those there are, in the order of their names in the request; of very long records not all that were asked for. */
  readonly jobs: readonly Job[]
  /** Ids of those that do not match. */
  readonly gone: readonly string[]
}

export async function theseOf(
  ids: readonly string[],
  query: JobQuery,
  narrowed: Narrowed,
  call: Call,
  { engine }: Pick<Parts, 'engine'>,
): Promise<These> {
  const { tenant, queues } = call.token
  const portion = async ({ limit, cursor }: Wanted) => {
    const [from, to] = [Number(cursor), Number(cursor) + limit]
    const asked = ids.slice(from, to).map((id) => ({ id, tenant, bodies: [] }))
    const { items: loaded } = await engine.load(asked)
    const items = loaded.flatMap((item) => (item !== undefined && isIn(item.job, queues) ? [item.job] : []))
    return { items, cursor: to < ids.length ? String(to) : undefined }
  }
  // A portion is short where some are there no more: that says nothing of those behind them.
  const { items: jobs } = await paged({ limit: ids.length, cursor: '0' }, portion, Number.POSITIVE_INFINITY)
  const matching = new Set(await matchingIds(jobs, query, narrowed, engine, call.signal))
  return { jobs, gone: jobs.map(({ id }) => id).filter((id) => !matching.has(id)) }
}

async function matchingIds(
  all: readonly Job[],
  query: JobQuery,
  narrowed: Narrowed,
  engine: Engine,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (narrowed.nothing) return []
  const { id: named } = narrowed
  const items = all.filter(
    (job) => isFound(job, query) && (named === undefined || job.id === named || job.spec.alias === named),
  )
  const one = { limit: query.limit, cursor: undefined }
  const { jobs } = await lookedInto(narrowed, one, engine, signal, async () => ({ items, cursor: undefined }))
  return jobs.map(({ id }) => id)
}
