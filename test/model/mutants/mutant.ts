/**
 * Something that could be wrong with the core, or with the ledger's protocol, as patches to its source. None of them lives in shipped code: each is applied to
 * a copy. A patch that does not match exactly once is an error, so a mutant cannot rot unnoticed.
 */
import type { Scale } from '../configuration.ts'

export interface Patch {
  /** Below `src/`, or of the model's hall. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface Mutant {
  readonly name: string
  /** The smallest configuration that kills it. */
  readonly on: string
  readonly scale: Scale
  /** It must not be found: what it takes away is for speed. */
  readonly isHarmless: boolean
  readonly patches: readonly Patch[]
}

export type Change = readonly [file: string, find: string, replace: string]

/** Of the core. */
export const mutant = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  name,
  on,
  scale: 'gate',
  isHarmless: false,
  patches: patchesIn('core', changes),
})

/** For what a `gate` world is too small for. */
export const wide = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  ...mutant(name, on, ...changes),
  scale: 'full',
})

/** Of what a store does around the core, as the model's hall has it. */
export const ofStore = (name: string, find: string, replace: string): Mutant => ({
  ...mutant(name, 'hall'),
  patches: [{ file: 'model/habits.ts', find, replace }],
})

/** Of the ledger's protocol. */
export const ofLedger = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  ...mutant(name, on),
  patches: patchesIn('store/ledger', changes),
})

export const harmless = (name: string, on: string, ...changes: readonly Change[]): Mutant => ({
  ...ofLedger(name, on, ...changes),
  isHarmless: true,
})

const patchesIn = (folder: string, changes: readonly Change[]): readonly Patch[] =>
  changes.map(([file, find, replace]) => ({ file: `${folder}/${file}`, find, replace }))
