/** The keeper thread: opens the store by itself and keeps the leases of one worker, whatever that worker's loop does. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from './core/assert.ts'
import { reasonOf } from './core/reason.ts'
import { open } from './open.ts'
import { machineMs } from './system/machine-clock.ts'
import { realTimers } from './system/timers.ts'
import type { FromKeeper, KeeperData, ToKeeper } from './worker/keeping.ts'
import { LeaseKeeper } from './worker/lease-keeper.ts'
import { LeaseTable } from './worker/lease-table.ts'

assert(parentPort !== null, 'the keeper is a thread')
const port = parentPort
const { memory, store, onBlocked } = workerData as KeeperData
const say = (message: FromKeeper): void => port.postMessage(message)
const stopping = new AbortController()
let pause = new AbortController()

port.on('message', (word: ToKeeper) => {
  if (word === 'stop') stopping.abort()
  pause.abort()
})

try {
  await using pawl = await open(store.url, { schema: store.schema, ticker: false, retention: false })
  const { engine } = pawl
  const table = new LeaseTable(memory)
  const keeper = new LeaseKeeper({ engine, table, nowMs: machineMs, tell: (news) => say({ news }), onBlocked })
  say({ ready: true })
  while (!stopping.signal.aborted) {
    pause = new AbortController()
    const againMs = Math.min(await keeper.runOnce(), table.scanEveryMs)
    if (!stopping.signal.aborted) await realTimers.sleep(againMs, pause.signal)
  }
} catch (error) {
  say({ gone: reasonOf(error) })
}
port.close()
