/**
 * The public names of `pawl/contract`: what the five documents name. Validators that return every violation, the fold
 * of a foreign log in a document's words, and the operations of 001 as `pawl.contract` has them.
 */

export type { Action, ContractStatus } from './core/contract/rules.ts'
export { type ContractViolation, validateJob } from './core/contract/validate-job.ts'
export { type Transition, validateTransition } from './core/contract/validate-transition.ts'
export { type Derived, deriveDialect as derive, type LogRule, type LogViolation } from './core/dialects/derive.ts'
export { DIALECT_NAMES, type DialectName } from './core/policy.ts'
export type { Contract, Operation, Outcome, OwnerOperation } from './library/operations.ts'
