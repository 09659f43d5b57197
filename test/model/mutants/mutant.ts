/**
 * Something that could be wrong with the core, as patches to its source. None of them lives in shipped code: each is applied to
 * a copy. A patch that does not match exactly once is an error, so a mutant cannot rot unnoticed.
 */
import type { Scale } from '../configuration.ts'

export interface Patch {
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface Mutant {
  readonly name: string
  /** The smallest configuration that kills it. */
  readonly on: string
  readonly scale: Scale
  readonly patches: readonly Patch[]
}

export type Change = readonly [file: string, find: string, replace: string]

export const mutant = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  name,
  on,
  scale: 'gate',
  patches: changes.map(([file, find, replace]) => ({ file, find, replace })),
})

/** For what a `gate` world is too small for. */
export const wide = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  ...mutant(name, on, ...changes),
  scale: 'full',
})
