import type { Timers } from '../system/timers.ts'

/** Until it is done, or for so long. What it comes to, if it comes to anything, is not asked here. */
export async function within(timers: Timers, ms: number, done: Promise<unknown> | undefined): Promise<void> {
  if (done === undefined) return
  const enough = new AbortController()
  const first = done.then(
    () => enough.abort(),
    () => enough.abort(),
  )
  await Promise.race([first, timers.sleep(ms, enough.signal)])
}
