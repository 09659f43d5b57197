/**
 * Jobs without the texts beside them: the record and the log say what there was, and how long it was. So a job that could
 * still use them keeps them: one that may run again, unless somebody has named its state, and one whose parent is alive,
 * which may ask for what its child came to.
 */
import { sizeOf } from './body.ts'
import { isEnded, type Job, type State, TERMINAL_STATES, type TerminalState } from './job.ts'
import { statesBefore } from './transitions.ts'

/** The states in which jobs may be stripped: the ends that are for good, and those that somebody has named. */
export function strippedIn(named: readonly State[]): readonly TerminalState[] {
  const reopened = statesBefore('reopen')
  return TERMINAL_STATES.filter((state) => named.includes(state) || !reopened.includes(state))
}

/** Whether there is anything to strip it of, as far as its record tells. */
export const hasBodies = ({ strippedAt, spec, result, bodySize, lastFailure }: Job): boolean =>
  strippedAt === undefined &&
  (spec.input !== undefined || sizeOf(result?.body) > 0 || bodySize > 0 || lastFailure !== undefined)

/** Whether its parent may still ask for what it came to. */
export const isAwaitedBy = (parent: Job | undefined): boolean => parent !== undefined && !isEnded(parent)

/** Whether a change is the one by which its bodies go. */
export const isStripping = (before: Job, after: Job): boolean => after.strippedAt !== before.strippedAt

/** Why nothing can be made of its input, its memos or its output any more; undefined where it has them. */
export const gone = ({ id, strippedAt }: Job): { readonly code: 'STRIPPED'; readonly message: string } | undefined =>
  strippedAt === undefined
    ? undefined
    : { code: 'STRIPPED', message: `The bodies of job ${id} were removed at ${new Date(strippedAt).toISOString()}.` }

/** The same of what it returned, where it returned anything. */
export const resultGone = (job: Job): ReturnType<typeof gone> => (sizeOf(job.result?.body) > 0 ? gone(job) : undefined)
