/**
 * Compaction of an ended job's log: progress, checkpoints and step records become one event that keeps what they
 * added up to, so that the fold stays equal. Transitions, signals and cancels are never touched, and heartbeats are
 * one entry per attempt already.
 */
import type { Event, EventType } from './event.ts'
import { evolve } from './evolve.ts'
import type { Job } from './job.ts'

export interface Compaction {
  readonly event: Event
  /** Revisions of the events it stands for. */
  readonly replaces: readonly number[]
}

/**
 * From how many revisions on a log is long. Of shorter ones nothing is gained: rewriting them costs more than they take
 * up, and whoever looks at the job still sees each step. (Stores have an index of what ended with a long log.)
 */
export const LONG_LOG = 20

/** What makes a log long. */
const COMPACTED: ReadonlySet<EventType> = new Set(['progressed', 'checkpointed', 'recorded', 'compacted'])

/** Lives as long as its job: a sum over such events stays true. Heartbeats are told together, the rest is compacted. */
export const isLasting = (event: Event): boolean =>
  event.type !== 'heartbeat' && (!COMPACTED.has(event.type) || isNoted(event))

/** Notes on plans, nodes and tools are the trace of a job: they stay. */
const isNoted = (event: Event): boolean => event.type === 'recorded' && event.payload.note !== undefined

/** Whoever shortens logs looks at these, once, when they have ended. */
export const hasLongLog = ({ endedAt, rev }: Job): boolean => endedAt !== undefined && rev >= LONG_LOG

/** Undefined where there is nothing to gain. */
export function compact(events: readonly Event[]): Compaction | undefined {
  const replaced = events.filter((event) => COMPACTED.has(event.type) && !isNoted(event))
  const last = replaced.at(-1)
  if (last === undefined || replaced.length < 2) return undefined
  const job = foldUntil(events, last.rev)
  const event: Event = {
    ...last,
    type: 'compacted',
    reason: 'compacted',
    payload: {
      count: replaced.reduce(
        (sum, { type, payload }) => sum + (type === 'compacted' ? (payload as { count: number }).count : 1),
        0,
      ),
      counters: job.counters,
      progress: job.progress,
      checkpoint: job.checkpoint,
      steps: job.steps,
      compensations: job.compensations,
      artifacts: job.artifacts,
      observations: job.observations,
      bodySize: job.bodySize,
    },
  } as Event
  return { event, replaces: replaced.map(({ rev }) => rev) }
}

function foldUntil(events: readonly Event[], rev: number): Job {
  let job: Job | undefined
  for (const event of events) if (event.rev <= rev) job = evolve(job, event)
  return job as Job
}
