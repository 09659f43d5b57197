import type { Timers } from './timers.ts'

/** What it comes to, if it does within so long; undefined where it does not, or fails: that is not asked here. */
export async function within<T>(timers: Timers, ms: number, done: Promise<T> | undefined): Promise<T | undefined> {
  if (done === undefined) return undefined
  const came = new AbortController()
  const late = timers.sleep(ms, came.signal).then(() => undefined)
  try {
    return await Promise.race([done.catch(() => undefined), late])
  } finally {
    came.abort()
  }
}
