/** A keeper of a store that is away until there is such a file. */
import { existsSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { StoreAddress, ToKeeper } from '../../src/worker/keeper-thread.ts'

if (!existsSync(String((workerData as StoreAddress).url))) throw new Error('away')
parentPort?.on('message', (word: ToKeeper) => {
  if ('keep' in word) parentPort?.postMessage({ ready: word.keep })
  else if ('drop' in word) parentPort?.close()
})
