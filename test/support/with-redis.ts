import { describe, it } from 'vitest'
import { redisMissing } from './debian.ts'

const missing = redisMissing()
if (missing !== undefined) console.warn(missing)

/** A test that needs Redis; skipped aloud where there is none to be had. */
export const itOnRedis = it.skipIf(missing !== undefined)

/** The same for all that share a server. */
export const describeOnRedis = describe.skipIf(missing !== undefined)
