import { compact, VERBOSE } from '../core/compact.ts'
import type { Event } from '../core/event.ts'
import { derive } from '../core/evolve.ts'
import { type Job, type JobId, TERMINAL_STATES, type TerminalState, type Time } from '../core/job.ts'
import type { Change, Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { differences } from './difference.ts'

const DAY = 24 * 60 * 60 * 1_000

/** Removes what ended long ago, and shortens the logs of what ended; in small batches, oldest first. */
export const RETENTION_DEFAULTS = {
  everyMs: 60_000,
  batch: 500,
  succeededMs: 7 * DAY,
  /** Every other ending. */
  endedMs: 30 * DAY,
  compact: true,
} as const

export interface RetentionOptions {
  /**
   * Milliseconds between two rounds.
   * @default 60000
   */
  readonly everyMs?: number | undefined
  /**
   * Jobs removed in one commit at most.
   * @default 500
   */
  readonly batch?: number | undefined
  /**
   * How long a job that succeeded is kept, in milliseconds from its end.
   * @default 604800000
   */
  readonly succeededMs?: number | undefined
  /**
   * How long a job that ended in any other way is kept, in milliseconds from its end.
   * @default 2592000000
   */
  readonly endedMs?: number | undefined
  /**
   * Whether the logs of jobs that have ended are shortened: heartbeats and progress become one entry.
   * @default true
   */
  readonly compact?: boolean | undefined
}

export interface RetentionParts {
  readonly store: Store
  readonly timers: Timers
  readonly log: Log
}

export function retention(parts: RetentionParts, options: RetentionOptions = {}): Service {
  const batch = options.batch ?? RETENTION_DEFAULTS.batch
  const ages: readonly (readonly [states: readonly TerminalState[], ageMs: number])[] = [
    [['succeeded'], options.succeededMs ?? RETENTION_DEFAULTS.succeededMs],
    [TERMINAL_STATES.filter((state) => state !== 'succeeded'), options.endedMs ?? RETENTION_DEFAULTS.endedMs],
  ]
  let compactedTo: Time | undefined
  const unended = new Set<JobId>()
  const round = async (signal: AbortSignal) => {
    // The store's own word on what time it is: this machine's clock may be years off, and what is purged is gone.
    const { now } = await parts.store.load([])
    let purged = 0
    for (const [states, ageMs] of ages) purged += await purge(parts.store, states, now - ageMs, batch, signal)
    if (options.compact ?? RETENTION_DEFAULTS.compact) {
      const from = compactedTo ?? now - DAY
      compactedTo = await shortenLogs(parts, { from, to: now }, unended, batch, signal)
    }
    if (purged > 0) parts.log.info('retention', { purged })
  }
  const everyMs = options.everyMs ?? RETENTION_DEFAULTS.everyMs
  return service({ name: 'retention', everyMs, timers: parts.timers, log: parts.log, round })
}

async function purge(
  store: Store,
  states: readonly TerminalState[],
  endedBefore: Time,
  batch: number,
  signal: AbortSignal,
): Promise<number> {
  let purged = 0
  for (let full = true; full && !signal.aborted; ) {
    const query = { states, endedBefore, roughlyBornBefore: endedBefore, order: 'oldest', limit: batch } as const
    const { jobs } = await store.find(query)
    if (jobs.length === 0) break
    const { verdicts } = await store.commit(jobs.map((before): Change => ({ kind: 'purge', before })))
    const gone = verdicts.filter(({ status }) => status === 'applied').length
    purged += gone
    // A job that was reopened meanwhile stays; a round in which nothing goes would find the same jobs again.
    full = jobs.length === batch && gone > 0
  }
  return purged
}

/** Jobs with a long log that had not ended when they were seen: looked at again in the next round. */
const UNENDED_MAX = 10_000

/**
 * Answers how far it has come. Long logs are found by what makes them long, which most jobs have nothing of: reading
 * back all that ended in a day made a drain beside 100,000 of them cost the server 31 µs per job instead of 14.
 */
async function shortenLogs(
  { store, log }: RetentionParts,
  { from, to }: { readonly from: Time; readonly to: Time },
  unended: Set<JobId>,
  batch: number,
  signal: AbortSignal,
): Promise<Time> {
  const look = async (ids: readonly JobId[]) => {
    const { items } = ids.length === 0 ? { items: [] } : await store.load(ids.map((id) => ({ id })))
    for (const [i, item] of items.entries()) {
      const id = ids[i] as JobId
      if (item !== undefined && (item.job.endedAt === undefined || signal.aborted)) {
        if (unended.size < UNENDED_MAX) unended.add(id)
        continue
      }
      if (item !== undefined) await shorten(store, item.job, log)
      unended.delete(id)
    }
  }
  const seen = [...unended]
  for (let i = 0; i < seen.length && !signal.aborted; i += batch) await look(seen.slice(i, i + batch))
  let cursor: string | undefined
  do {
    const page = await store.events({ by: 'type', types: VERBOSE, from, to, limit: batch, cursor })
    await look([...new Set(page.events.map(({ jobId }) => jobId))])
    cursor = page.cursor
  } while (cursor !== undefined && !signal.aborted)
  return signal.aborted ? from : to
}

async function shorten(store: Store, job: Job, log: Log): Promise<void> {
  const events = await logOf(store, job.id)
  const found = compact(events)
  if (found === undefined) return
  const gone = new Set(found.replaces)
  const rest = [...events.filter(({ rev }) => !gone.has(rev)), found.event].sort((a, b) => a.rev - b.rev)
  const lost = differences(derive(rest), job)
  if (lost.length > 0) {
    log.warn('a log was not shortened: its fold would differ', { job_id: job.id, difference: lost[0] })
    return
  }
  await store.commit([{ kind: 'compact', before: job, event: found.event, replaces: found.replaces }])
}

const PAGE = 1_000

export async function logOf(store: Pick<Store, 'events'>, id: JobId): Promise<readonly Event[]> {
  const all: Event[] = []
  for (let afterRev = 0; ; ) {
    const { events } = await store.events({ by: 'job', id, afterRev, limit: PAGE })
    all.push(...events)
    if (events.length < PAGE) return all
    afterRev = events.at(-1)?.rev ?? afterRev
  }
}
