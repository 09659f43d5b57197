/** A thread that says it is open and then does as it is told: it ends when it hears `end`, and not before. */
import { parentPort } from 'node:worker_threads'

parentPort?.postMessage({ answers: [], kinds: [], changed: false, opened: true })
parentPort?.on('message', (message: unknown) => {
  if (message === 'end') parentPort?.close()
})
