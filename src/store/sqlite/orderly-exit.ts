/**
 * A process that exits stops its threads wherever they are, be it in the middle of a statement. The store's are told
 * before: they finish the statement they are at, close the file and say so. They are waited for, for a bounded time: a process that exits
 * does not want to wait, and nothing that was answered depends on it.
 */
import type { Call } from './protocol.ts'
import type { Thread } from './thread.ts'

const WITHIN_MS = 2_000

const threads = new Set<Thread>()

/** Sees to a thread's orderly end when the process exits, until disposed of. */
export function leaveOrderly(thread: Thread): Disposable {
  if (threads.size === 0) process.on('exit', leave)
  threads.add(thread)
  return {
    [Symbol.dispose]() {
      threads.delete(thread)
      if (threads.size === 0) process.off('exit', leave)
    },
  }
}

/** Threads that came later leave first: the reader lets go of the file before the writer, which can then fold the log into it. */
function leave(): void {
  const call: Call = { n: 0, op: 'leave', asked: null }
  for (const { worker, gone } of [...threads].reverse()) {
    worker.postMessage([call])
    Atomics.wait(gone, 0, 0, WITHIN_MS)
  }
}
