import type { InvariantName } from '../core/invariants.ts'
import type { JobId } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'

/** A place where what is stored is not what it must be. */
export interface Discrepancy {
  readonly job: JobId | undefined
  readonly about: 'record' | 'log' | 'body' | 'key' | 'count' | 'slot' | 'flow' | 'hot' | 'fold' | 'unreadable'
  readonly invariant: InvariantName | undefined
  readonly what: string
}

/** How much a verification has looked at, and what it has found. */
export interface Verification {
  readonly jobs: number
  readonly events: number
  readonly discrepancies: readonly Discrepancy[]
}

export const unreadable = (job: JobId | undefined, error: unknown): Discrepancy => ({
  job,
  about: 'unreadable',
  invariant: undefined,
  what: reasonOf(error),
})
