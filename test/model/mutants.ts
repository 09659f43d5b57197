/** Every defect the model must find, by its part of the lifecycle. */
import { BUDGETS } from './mutants/budgets.ts'
import { CLOCKS } from './mutants/clocks.ts'
import { ENDINGS } from './mutants/endings.ts'
import { LOG } from './mutants/log.ts'
import type { Mutant } from './mutants/mutant.ts'
import { OWNERSHIP } from './mutants/ownership.ts'
import { WAITS } from './mutants/waits.ts'

export const MUTANTS: readonly Mutant[] = [...OWNERSHIP, ...BUDGETS, ...LOG, ...ENDINGS, ...WAITS, ...CLOCKS]
