import { Worker } from 'node:worker_threads'
import { entry } from '../../system/entry.ts'
import type { FileOptions, ThreadOptions } from './protocol.ts'

/** One of the store's threads, and how others see that it has let go of the file. */
export interface Thread {
  readonly worker: Worker
  /** Becomes 1 when it has closed the file, or found that it cannot open it. */
  readonly gone: Int32Array
}

export function startThread(body: 'writer' | 'reader', file: FileOptions): Thread {
  const entered = entry(import.meta.url, 'store/sqlite/thread', `store/sqlite/${body}-thread`)
  const gone = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const options: ThreadOptions = { ...file, gone }
  const worker = new Worker(entered, {
    workerData: options,
    name: `pawl sqlite ${body}`,
    // Not the flags of the process: many of them a thread may not have.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  return { worker, gone }
}
