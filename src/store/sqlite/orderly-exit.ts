/**
 * A process that exits stops its threads wherever they are, be it in the middle of a statement. The store's are told
 * before: they finish the statement they are at, close the file and say so. They are waited for, for a bounded time: whoever exits
 * does not want to wait, and nothing that was answered depends on it.
 */
import type { Call } from './protocol.ts'
import type { Thread } from './thread.ts'

const WITHIN_MS = 2_000

const threads = new Set<Thread>()

/** Until disposed of: then it has ended, or nobody cares any more. */
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

/** Those that came later first: who reads lets go of the file before who writes, who then leaves one file behind. */
function leave(): void {
  const call: Call = { n: 0, op: 'leave', asked: null }
  for (const { worker, gone } of [...threads].reverse()) {
    worker.postMessage([call])
    Atomics.wait(gone, 0, 0, WITHIN_MS)
  }
}
