/**
 * The public names of `pawl/contract`: what the five documents name. Any job and its log in a document's words, the fold of
 * such a log, validators that return every violation, and the operations of 001 as `pawl.contract` has them.
 */

export type { Action, ContractStatus } from './core/contract/rules.ts'
export { type ContractViolation, validateJob } from './core/contract/validate-job.ts'
export { type Transition, validateTransition } from './core/contract/validate-transition.ts'
export { isJobBlocked } from './core/dialects/blocked.ts'
export type { Marks } from './core/dialects/chain.ts'
export { type Derived, deriveDialect as derive, type LogRule, type LogViolation } from './core/dialects/derive.ts'
export type { Fields } from './core/dialects/dialect.ts'
export { log as dialectLog } from './core/dialects/history.ts'
export { view as dialectView } from './core/dialects/view.ts'
export { DIALECT_NAMES, type DialectName } from './core/policy.ts'
export type { Contract, Operation, Outcome, OwnerOperation } from './library/contract.ts'
export {
  type Cas,
  type DistributedJobQueue,
  distributedJobQueue,
  type JobError,
  type JobEvent,
  type JobLease,
  type JobOwner,
  type JobReads,
  type JobRecord,
  type JobStatus,
  type JobTransition,
  type OwnedTransition,
  type QueueOptions,
  type SystemTransition,
} from './library/distributed-job-queue.ts'
