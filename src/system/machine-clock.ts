import { performance } from 'node:perf_hooks'
import { hrtime } from 'node:process'

/**
 * The machine's monotonic clock, the same in every thread of a process: `performance.now()` begins anew in each. The
 * difference between the two is taken once, because reading this one directly costs several times as much.
 */
const offsetMs = Number(hrtime.bigint()) / 1e6 - performance.now()

export const machineMs = (): number => performance.now() + offsetMs
