/**
 * What a document asks of the jobs bound to it besides its table and its words, as data: rules of core look here, not at the
 * name of a document. A job that is bound to none costs one comparison.
 */
import type { DialectName, Policy } from '../policy.ts'
import { DIALECTS } from './registry.ts'

export interface Bond {
  /** An attempt that ended with budget left is tried again as a new job, linked to the old one. */
  readonly retriesAsNewJob: boolean
  /** Its table refuses what was scheduled, and nothing before: a denial schedules the job first. */
  readonly deniesScheduledOnly: boolean
}

const LOOSE: Bond = { retriesAsNewJob: false, deniesScheduledOnly: false }

const BONDS: Readonly<Partial<Record<DialectName, Bond>>> = {
  '002': { retriesAsNewJob: true, deniesScheduledOnly: true },
}

export const bondOf = ({ dialect }: Policy): Bond => (dialect === undefined ? LOOSE : (BONDS[dialect] ?? LOOSE))

/** Whether a worker that will not run a job after all can say so. Where it cannot, it claims none that it could not begin. */
export const canBeHandedBack = ({ dialect }: Policy): boolean =>
  dialect === undefined || DIALECTS[dialect].knows.release !== undefined
