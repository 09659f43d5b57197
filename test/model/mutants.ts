/** Every defect the model must find, by its part of the lifecycle, of the life of keys and of the ledger's protocol. */
import { BUDGETS } from './mutants/budgets.ts'
import { CLOCKS } from './mutants/clocks.ts'
import { DUPLICATES } from './mutants/duplicates.ts'
import { ENDINGS } from './mutants/endings.ts'
import { KEY_LIFE } from './mutants/key-life.ts'
import { LEDGER } from './mutants/ledger.ts'
import { LETTING_IN } from './mutants/letting-in.ts'
import { LOG } from './mutants/log.ts'
import type { Mutant } from './mutants/mutant.ts'
import { OWNERSHIP } from './mutants/ownership.ts'
import { WAITS } from './mutants/waits.ts'

export const MUTANTS: readonly Mutant[] = [
  ...OWNERSHIP,
  ...BUDGETS,
  ...LOG,
  ...ENDINGS,
  ...WAITS,
  ...DUPLICATES,
  ...CLOCKS,
  ...KEY_LIFE,
  ...LETTING_IN,
  ...LEDGER,
]
