import { setTimeout as pause } from 'node:timers/promises'

export interface EventuallyOptions {
  readonly withinMs?: number
  readonly everyMs?: number
}

/**
 * Waits until `probe` answers with something other than `undefined` or `false`, and gives it back. A deadline passed
 * is an error that says what was waited for; the last error `probe` threw is its cause.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: EventuallyOptions = {},
): Promise<T> {
  const withinMs = options.withinMs ?? 20_000
  const deadline = performance.now() + withinMs
  let cause: unknown
  do {
    try {
      const found = await probe()
      if (found !== undefined && found !== false) return found
      cause = undefined
    } catch (error) {
      cause = error
    }
    await pause(options.everyMs ?? 10)
  } while (performance.now() < deadline)
  throw new Error(`waited ${withinMs} ms in vain for: ${what}`, { cause })
}
