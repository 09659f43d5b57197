import { describe, it } from 'vitest'
import { pgbouncerMissing } from './debian.ts'

const missing = pgbouncerMissing()
if (missing !== undefined) console.warn(missing)

/** A test that needs pgbouncer; skipped aloud where there is none to be had. */
export const itPooled = it.skipIf(missing !== undefined)

/** The same for all that share a pooler. */
export const describePooled = describe.skipIf(missing !== undefined)
