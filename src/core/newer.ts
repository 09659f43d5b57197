/**
 * Duplicates that bring something newer. While nobody has begun with a job, its input is replaced; once somebody has, steps of
 * the old input are memoised and a new one must not meet them: the newest is kept for the job that comes next, which is
 * enqueued with the end of this one, whatever that is, and has its key.
 */
import { sizeOf } from './body.ts'
import type { Newer } from './brought.ts'
import type { Enqueue } from './command.ts'
import type { Draft } from './draft.ts'
import { wordsInPlaceOf } from './in-place.ts'
import { type BodyRef, isEnded, type Job, type JobFlow, type Time } from './job.ts'
import { isHeldForLife } from './keys.ts'
import { askedOf } from './recast.ts'

/**
 * What a duplicate has done: its input took the place of that of the job there is (`replaced`), or waits to be the next
 * (`next`); or the job there is has ended, still holds the key, and nothing is kept of it (`ended`).
 */
export type Effect = 'replaced' | 'next' | 'ended'

/** What it brings. */
interface Brought {
  /** Whatever it is: only whether there is one decides where it belongs. */
  readonly input?: unknown
  readonly flow?: JobFlow | undefined
}

/** What a duplicate does to the job that it met; `gone`: that has ended, and its key is free or the next one's. */
export function effectOn(job: Job, brought: Brought): Effect | 'gone' {
  if (!isEnded(job)) return placeOf(job, brought)
  return isHeldForLife(job.spec) || hasNext(job) ? 'gone' : 'ended'
}

/**
 * Where a newer input belongs: in the job itself, or in the one that comes next. What would be let in by other names comes
 * next, too: in this job it would run within limits that are not its own. So does an input that nobody has judged, where the job was
 * let in with another. Once there is a next, all that come later are, or the newest would run before one that is older.
 */
export const placeOf = (job: Job, { input, flow }: Brought): 'replaced' | 'next' =>
  isUntouched(job) &&
  !(input !== undefined && isJudged(job)) &&
  job.newer?.next === undefined &&
  isSameFlow(askedOf(job).flow, flow)
    ? 'replaced'
    : 'next'

const isUntouched = ({ state, attempt }: Job): boolean => (state === 'pending' || state === 'queued') && attempt === 0

/** Somebody has looked at what it says and let it in: that is what runs. */
const isJudged = ({ state, spec }: Job): boolean => state !== 'pending' && spec.kind.policy.admission

/** Who says nothing about names has those of the job that is there. */
const isSameFlow = (mine: JobFlow | undefined, said: JobFlow | undefined): boolean =>
  said === undefined || (mine?.fair === said.fair && JSON.stringify(mine?.keys) === JSON.stringify(said.keys))

/** The input it runs with. */
export const inputOf = ({ newer, spec }: Pick<Job, 'newer' | 'spec'>): BodyRef | undefined => newer?.input ?? spec.input

export const sizeOfNewer = (newer: Newer | undefined): number => sizeOf(newer?.input) + sizeOf(newer?.next?.input)

/** Reopened, a job has not what has come after it already. */
export const withoutNext = (newer: Newer | undefined): Newer | undefined =>
  newer?.input === undefined ? undefined : { ...newer, next: undefined }

/** Moved on with every duplicate, but not beyond so long after the first: it has to run at some time. */
export const debouncedTo = (
  now: Time,
  first: Time,
  { withinMs, atMostMs }: { readonly withinMs: number; readonly atMostMs: number },
): Time => Math.min(now + withinMs, first + atMostMs)

/** The body that a successor's input is read from: of what comes next, what duplicates have brought. */
export const sourceOf = ({ cause }: Pick<Enqueue, 'cause'>): 'input' | 'next' => (cause === NEXT ? 'next' : 'input')

const NEXT = 'replaced'

const hasNext = ({ newer, cancel }: Job): boolean => newer?.next !== undefined && cancel?.dropsNext !== true

/**
 * What comes after a job that has ended; undefined where nothing does. It has its words, its key, and the newer input, and it is the word of
 * whoever brought that: they, and not who ended this one, have asked for it.
 */
export function nextOf(d: Draft, job: Job): Omit<Enqueue, 'id'> | undefined {
  const { endedAt, newer } = d.job
  const spec = askedOf(d.job)
  // With the end, and with nothing that is said of it afterwards.
  if (endedAt === undefined || isEnded(job) || newer?.next === undefined || !hasNext(d.job)) return undefined
  const { input, runAt, flow, by = d.command.actor } = newer.next
  return {
    ...wordsInPlaceOf(spec),
    type: 'enqueue',
    actor: by,
    requestId: `${job.id}/${job.generation}/next`,
    correlationId: spec.correlationId,
    cause: NEXT,
    traceparent: spec.traceparent,
    kind: spec.kind,
    priority: job.priority,
    runAt,
    input: input && { ...input, name: 'input' },
    parentId: spec.parentId,
    flow,
  }
}
