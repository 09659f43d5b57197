/**
 * What a document asks of the jobs bound to it besides its table and its words, as data: rules of core look here, not at the
 * name of a document. A job that is bound to none costs one comparison.
 */
import type { DialectName, Policy } from '../policy.ts'

export interface Bond {
  /** An attempt that ended with budget left is tried again as a new job, linked to the old one. */
  readonly retriesAsNewJob: boolean
  /** Its table refuses what was scheduled, and nothing before: a denial schedules the job first. */
  readonly deniesScheduledOnly: boolean
  /** The deadline is a wall clock: it begins with the first start, and nothing runs out while the job waits in a queue. */
  readonly deadlineFromStart: boolean
  /** How long a job may take at most whose submitter waits for it. */
  readonly synchronousMs: number | undefined
  /** Its log is for audits: nobody removes or shortens it by default. */
  readonly keptUntilAsked: boolean
  /** Its transitions are logged in its words, and only what is a transition to it. */
  readonly logsInItsWords: boolean
}

const LOOSE: Bond = {
  retriesAsNewJob: false,
  deniesScheduledOnly: false,
  deadlineFromStart: false,
  synchronousMs: undefined,
  keptUntilAsked: false,
  logsInItsWords: false,
}

const BONDS: Readonly<Partial<Record<DialectName, Bond>>> = {
  '002': { ...LOOSE, retriesAsNewJob: true, deniesScheduledOnly: true },
  '004': { ...LOOSE, deadlineFromStart: true, synchronousMs: 300_000, keptUntilAsked: true, logsInItsWords: true },
}

export const bondOf = ({ dialect }: Policy): Bond => (dialect === undefined ? LOOSE : (BONDS[dialect] ?? LOOSE))

/** The policy of a job whose submitter waits for it. */
export function synchronous(policy: Policy): Policy {
  const { synchronousMs } = bondOf(policy)
  const { deadlineMs = Number.POSITIVE_INFINITY } = policy
  return synchronousMs === undefined || deadlineMs <= synchronousMs ? policy : { ...policy, deadlineMs: synchronousMs }
}
