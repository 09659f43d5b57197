/**
 * Waiting, in one place, so that tests can make two hours pass in no time. The platform's own, not the globals: those a test
 * may have replaced (`vi.useFakeTimers()`), and a worker whose leases are renewed by nobody would not be what it tests.
 */
import { clearTimeout, setTimeout } from 'node:timers'

export interface Timers {
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects: the caller looks at its signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` once after `ms`, unless disposed of before. Does not keep the process alive. */
  after(ms: number, fn: () => void): Disposable
}

/** What waiting is made of. */
export interface Platform {
  setTimeout(fn: () => void, ms: number): NodeJS.Timeout
  clearTimeout(timer: NodeJS.Timeout): void
}

/** What the platform's timers can hold; longer waits are waited for in pieces. */
const LONGEST_MS = 2 ** 31 - 1

export function timersOn(platform: Platform): Timers {
  /** Returns how to call it off. */
  const schedule = (ms: number, fn: () => void, keepsAlive: boolean): (() => void) => {
    let timer: NodeJS.Timeout
    const arm = (leftMs: number) => {
      const pieceMs = Math.min(leftMs, LONGEST_MS)
      timer = platform.setTimeout(() => (leftMs > pieceMs ? arm(leftMs - pieceMs) : fn()), pieceMs)
      if (!keepsAlive) timer.unref()
    }
    arm(Math.max(0, ms))
    return () => platform.clearTimeout(timer)
  }
  return {
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const done = () => {
          stop()
          signal?.removeEventListener('abort', done)
          resolve()
        }
        const stop = schedule(ms, done, true)
        signal?.addEventListener('abort', done)
      }),
    after: (ms, fn) => ({ [Symbol.dispose]: schedule(ms, fn, false) }),
  }
}

export const realTimers: Timers = timersOn({ setTimeout, clearTimeout })
