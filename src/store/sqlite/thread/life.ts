/** What the store's threads are alike in: how they find the file, hear of calls, and end. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { assert } from '../../../core/assert.ts'
import { realClock } from '../../../system/clock.ts'
import { realTimers } from '../../../system/timers.ts'
import type { Call, Report, ThreadOptions } from '../protocol.ts'
import { UnusableFile } from './open.ts'
import { isBusy } from './result-codes.ts'

assert(parentPort !== null, 'this module is part of the body of a thread')
const port = parentPort

export const options = workerData as ThreadOptions

export function post(report: Partial<Report>): void {
  port.postMessage({ answers: [], kinds: [], changed: false, letIn: [], ...report })
}

/** Another process may be opening, migrating or closing the same file just now. */
export async function openWhenFree<Opened>(open: () => Opened): Promise<Opened | undefined> {
  const sinceMs = realClock.monotonicMs()
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (isBusy(error) && realClock.monotonicMs() - sinceMs < options.busyMs) {
        await realTimers.sleep(2)
        continue
      }
      post({ opened: whyNotOpened(error) })
      letGo()
      return undefined
    }
  }
}

/** Called once opening is given up: a file that is busy now has been so for `busyMs`. */
function whyNotOpened(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UnusableFile) return { code: error.code, message: `pawl: ${message}` }
  if (isBusy(error)) {
    return {
      code: 'STORE_BUSY',
      message: `pawl: another process kept ${options.path} locked for more than ${options.busyMs} ms.`,
    }
  }
  return { code: 'STORE_FAILED', message: `pawl: cannot open ${options.path}: ${message}` }
}

export interface Life {
  /** Calls, in the order they came. */
  take(calls: readonly Call[]): void
}

/** Begins to take calls. Returns a function that ends that: nothing keeps the thread alive afterwards. */
export function live({ take }: Life): () => void {
  port.on('message', take)
  post({ opened: true })
  return () => {
    port.off('message', take)
    port.unref()
    letGo()
  }
}

/** Calls that have arrived and have not been heard yet. */
export function arrived(): readonly Call[] {
  const calls: Call[] = []
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    calls.push(...(next.message as readonly Call[]))
  }
  return calls
}

/** Tells the main thread, which may wait for it, that the file is closed. */
function letGo(): void {
  Atomics.store(options.gone, 0, 1)
  Atomics.notify(options.gone, 0)
}
