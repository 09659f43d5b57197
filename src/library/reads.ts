/** Reading what one tenant may see. */
import type { Event } from '../core/event.ts'
import { type Explanation, explain } from '../core/explain.ts'
import { idText } from '../core/id.ts'
import type { Job, TerminalState } from '../core/job.ts'
import { refuse } from '../core/refuse.ts'
import { gone } from '../core/stripped.ts'
import type { Engine } from '../engine/engine.ts'
import { logOf } from '../engine/log-of.ts'
import { Queues } from '../engine/queues.ts'
import { Workers } from '../engine/workers.ts'
import type { EventPage, EventQuery, Loaded, LoadItem } from '../store/store.ts'
import { ENDINGS, Refused } from './errors.ts'

export async function mustFind(engine: Engine, item: LoadItem): Promise<Job> {
  const [found] = (await engine.load([item])).items
  if (found !== undefined) return found.job
  throw new Refused(refuse('NOT_FOUND', { jobId: item.id, message: `There is no job ${item.id}.` }))
}

/** What one of its bodies says; undefined where it has none of that name. */
export function bodyIn(found: Loaded | undefined, name: string): unknown {
  if (found !== undefined) demandBodies(found.job)
  const text = found?.bodies[name]
  return text === undefined ? undefined : JSON.parse(text)
}

/** For who needs one of its bodies: where they were removed, nothing is not what it was. */
function demandBodies(job: Job): void {
  const bare = gone(job)
  if (bare !== undefined) throw new Refused(refuse(bare.code, { job, message: bare.message }))
}

/** The job, with all that it left behind. */
export async function withBodies(engine: Engine, item: LoadItem): Promise<Job> {
  const job = await mustFind(engine, item)
  demandBodies(job)
  return job
}

/** What a job that has ended came to; thrown, where that is no result. */
export async function resultOf(engine: Engine, job: Job): Promise<unknown> {
  const Bad = ENDINGS[job.state as TerminalState]
  if (Bad !== undefined) throw new Bad(job)
  if (job.result?.ptr !== undefined) return { resultPtr: job.result.ptr }
  if (job.result?.body.size === 0) return undefined
  return bodyIn((await engine.load([{ id: job.id, bodies: ['output'] }])).items[0], 'output')
}

/** A job's whole log; empty where there is no such job. */
export async function history(engine: Engine, item: LoadItem): Promise<readonly Event[]> {
  // An id of the store's needs no looking up, unless it may be somebody else's.
  if (item.tenant === undefined) return logOf(engine, item.id)
  const [found] = (await engine.load([item])).items
  return found === undefined ? [] : logOf(engine, found.job.id)
}

/** Why it is not running. */
export async function explained(engine: Engine, item: LoadItem): Promise<Explanation> {
  const job = await mustFind(engine, item)
  const { tenant, queue } = job.spec.kind
  const paused = await new Queues(engine).paused(tenant, queue)
  const workers = await new Workers(engine).around(job)
  const held = (await engine.whatHolds([job])).get(job.id)
  return explain(job, { now: engine.now(), paused, workers, held })
}

/** `tenant` is that of `open`; undefined: everybody's. */
export async function eventsFor(engine: Engine, tenant: string | undefined, query: EventQuery): Promise<EventPage> {
  if (tenant === undefined) return engine.events(query)
  switch (query.by) {
    case 'type':
    case 'correlation':
    case 'keys':
      return engine.events({ ...query, tenant: query.tenant ?? tenant })
    case 'feed':
    case 'tally':
    case 'backlog': {
      const page = await engine.events(query)
      const theirs = (each: { readonly tenant: string }) => each.tenant === tenant
      const { feed, tally, backlog } = page
      return { ...page, feed: feed.filter(theirs), tally: tally.filter(theirs), backlog: backlog.filter(theirs) }
    }
    case 'job':
    case 'annotation': {
      const [found] = (await engine.load([{ id: query.id, tenant }])).items
      return engine.events({ ...query, id: found?.job.id ?? NOBODY })
    }
  }
}

/** The last number there is: no store hands it out. */
const NOBODY = idText(Number.MAX_SAFE_INTEGER)
