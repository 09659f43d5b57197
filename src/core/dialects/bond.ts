/**
 * What a document asks of the jobs bound to it besides its table and its words, as data: rules of core look here, not at the
 * name of a document. A job that is bound to none costs one comparison.
 */
import type { Job, Kind } from '../job.ts'
import { needOf, withType } from '../needs.ts'
import type { Policy } from '../policy.ts'
import { DIALECTS, type Reading } from './registry.ts'

export interface Bond {
  /** A word is about the very revision it names, the owner's own heartbeats included; and it names one. */
  readonly exactRevision: boolean
  /** Its worker says `start` in a word of its own, and runs nothing before that is written. */
  readonly startsAloud: boolean
  /** It neither completes nor fails before that. */
  readonly endsOnlyWhileRunning: boolean
  /** Saying `start` is the first heartbeat: it renews the lease, and the log has both. */
  readonly startsWithHeartbeat: boolean
  /** Each heartbeat is an entry of the log. */
  readonly logsHeartbeats: boolean
  /** Only its owner fails a job: the worker keeps the attempt's time limit, nobody else does. */
  readonly failedByOwner: boolean
  /** An attempt that ended with budget left is tried again as a new job, linked to the old one. */
  readonly retriesAsNewJob: boolean
  /** What fails is forwarded to the dead letters: the document has one state for both. */
  readonly forwardsFailed: boolean
  /** Its table refuses what was scheduled, and nothing before: a denial schedules the job first. */
  readonly deniesScheduledOnly: boolean
  /** The time within which a job must start counts from its claim: nothing that waits is late. */
  readonly startsAfterClaim: boolean
  /** The deadline is a wall clock: it begins with the first start. */
  readonly deadlineFromStart: boolean
  /** How long a job may take at most whose submitter waits for it. */
  readonly synchronousMs: number | undefined
  /** Its log is for audits: nobody removes or shortens it by default. */
  readonly keptUntilAsked: boolean
  /** Whose word it is that a clock of the job has run out. */
  readonly tickedBy: string
  /** Its transitions are logged in its words, and only what is a transition to it. */
  readonly logsInItsWords: boolean
}

const LOOSE: Bond = {
  exactRevision: false,
  startsAloud: false,
  endsOnlyWhileRunning: false,
  startsWithHeartbeat: false,
  logsHeartbeats: false,
  failedByOwner: false,
  retriesAsNewJob: false,
  forwardsFailed: false,
  deniesScheduledOnly: false,
  startsAfterClaim: false,
  deadlineFromStart: false,
  synchronousMs: undefined,
  keptUntilAsked: false,
  tickedBy: 'system:ticker',
  logsInItsWords: false,
}

/** What all of them ask for: a job that a document says runs is one that has been started. */
const BOUND: Bond = { ...LOOSE, startsAloud: true }

const BONDS: Readonly<Partial<Record<Reading, Bond>>> = {
  '000A': { ...BOUND, startsWithHeartbeat: true },
  '000B': { ...BOUND, forwardsFailed: true },
  '001': { ...BOUND, exactRevision: true, endsOnlyWhileRunning: true, logsHeartbeats: true, failedByOwner: true },
  '002': {
    ...BOUND,
    retriesAsNewJob: true,
    deniesScheduledOnly: true,
    startsAfterClaim: true,
    tickedBy: 'system:reconciler',
  },
  '004': { ...BOUND, deadlineFromStart: true, synchronousMs: 300_000, keptUntilAsked: true, logsInItsWords: true },
}

export const bondOf = ({ dialect }: Pick<Policy, 'dialect'>): Bond =>
  dialect === undefined ? LOOSE : (BONDS[dialect] ?? BOUND)

/** The policy of a job whose submitter waits for it. */
export function synchronous(policy: Policy): Policy {
  const { synchronousMs } = bondOf(policy)
  const { deadlineMs = Number.POSITIVE_INFINITY } = policy
  return synchronousMs === undefined || deadlineMs <= synchronousMs ? policy : { ...policy, deadlineMs: synchronousMs }
}

/** Whether whoever reads in its words finds what has failed among the dead letters, bound to it or not. */
export const forwardsFailed = (dialect: Reading): boolean => BONDS[dialect]?.forwardsFailed === true

/** Whether a job that has ended may go on as it is; where endings are final, a second chance is another job. */
export const mayReopen = ({ dialect }: Policy): boolean =>
  dialect === undefined || DIALECTS[dialect].knows.reopen !== undefined

/** Whether the owner of a job of this policy can hand it back, or has to do it or let its lease expire. */
export const isReturnable = ({ dialect }: Pick<Policy, 'dialect'>): boolean =>
  dialect === undefined || DIALECTS[dialect].knows.release !== undefined

/**
 * What a job must find in its claimer, where that one could not hand it back: its type. Said when it is queued for the first
 * time. Of jobs from before that was said at birth: when a claim of one ended before anything had begun, which is all that
 * a worker can do that does not know it.
 */
export const neededToClaim = ({ type, policy }: Kind): string | undefined => (isReturnable(policy) ? undefined : type)

/** What it needs with that, where it has not been said yet. */
export const neededUnlessHandedBack = ({ spec, needs }: Job): string | undefined =>
  needOf(needs).type !== undefined || isReturnable(spec.kind.policy) ? undefined : withType(needs, spec.kind.type)
