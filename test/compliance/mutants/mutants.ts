/** Every defect that a test of the documents must find. */
import { OF_000A } from './000a.ts'
import { OF_000B } from './000b.ts'
import { OF_001 } from './001.ts'
import { OF_002 } from './002.ts'
import { OF_003 } from './003.ts'
import { OF_004 } from './004.ts'
import type { Mutant } from './mutant.ts'

export const MUTANTS: readonly Mutant[] = [...OF_000A, ...OF_000B, ...OF_001, ...OF_002, ...OF_003, ...OF_004]
