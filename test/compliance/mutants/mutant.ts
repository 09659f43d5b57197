/**
 * Something that could be wrong with pawl and that a document forbids, as patches to its sources. None of them lives in
 * shipped code: each is applied to a copy. A patch that does not match exactly once is an error, so a mutant cannot rot
 * unnoticed. For every rule it breaks a test that cites the rule must fail: one that fails for another reason, or fails
 * to load, kills nothing.
 */
import { RULES } from '../lines.ts'

export interface Patch {
  /** From `src/`. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface Mutant {
  /** The defect, in words. */
  readonly name: string
  /** The lines that forbid it, `000A:32`. */
  readonly rules: readonly string[]
  readonly patches: readonly Patch[]
  /** Tests once did not notice it: it is in every share of the gate. */
  readonly survived: boolean
  /** Where it can be seen; `SQLite` stands for every store and for none. */
  readonly store: 'SQLite' | 'Postgres'
  /** Only a bus shows it: where there is no NATS to be had, it cannot be judged. */
  readonly onBus: boolean
}

export type Change = readonly [file: string, find: string, replace: string]

/** `rules`: with spaces between them. */
export const mutant = (rules: string, name: string, ...changes: readonly Change[]): Mutant => ({
  // By the rule as well: two documents forbid the same defect.
  name: `${rules.slice(0, rules.indexOf(':'))} ${name}`,
  rules: rules.split(' '),
  patches: changes.map(([file, find, replace]) => ({ file, find, replace })),
  survived: false,
  store: 'SQLite',
  onBus: false,
})

export const survivor = (...described: Parameters<typeof mutant>): Mutant => ({
  ...mutant(...described),
  survived: true,
})

/** For what only the SQL of Postgres does. */
export const inPostgres = (...described: Parameters<typeof mutant>): Mutant => ({
  ...mutant(...described),
  store: 'Postgres',
})

/** For what only the bus does. */
export const overBus = (...described: Parameters<typeof mutant>): Mutant => ({ ...mutant(...described), onBus: true })

/** Nothing is wrong: whatever fails then would be said to kill mutants that it does not know. */
export const SHIPPED: Mutant = {
  name: 'nothing is changed',
  rules: RULES,
  patches: [],
  survived: false,
  store: 'SQLite',
  onBus: false,
}
