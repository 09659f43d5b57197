/** The keeper thread: opens the store by itself and keeps the leases of this process's workers, whatever their loop does. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from './core/assert.ts'
import { reasonOf } from './core/reason.ts'
import type { Engine } from './engine/engine.ts'
import { open } from './open.ts'
import { harmless, silentLog, stderrLogAtOnce } from './system/log.ts'
import { machineMs } from './system/machine-clock.ts'
import { type Service, service } from './system/service.ts'
import { realTimers } from './system/timers.ts'
import type { FromKeeper, KeptTable, StoreAddress, ToKeeper } from './worker/keeper-thread.ts'
import { LeaseKeeper } from './worker/lease-keeper.ts'
import { LeaseTable } from './worker/lease-table.ts'

assert(parentPort !== null, 'the keeper is a thread')
const port = parentPort
const store = workerData as StoreAddress
const say = (message: FromKeeper): void => port.postMessage(message)

/** Nothing but leases is seen to here; while there are none, no connection is kept for them. */
const ALONE = { ticker: false, retention: false, idleConnections: 0, log: 'silent' } as const

/** By the number of the table. They differ in how often they must be looked at, so each has a loop of its own. */
const keepers = new Map<number, Service>()
const ended = Promise.withResolvers<void>()

try {
  await using pawl = await open(store.url, { ...store, ...ALONE })
  // What was said while the store was opened has waited.
  port.on('message', (word: ToKeeper) => {
    if ('keep' in word) keep(pawl.engine, word.keep, word.table)
    else if ('wake' in word) keepers.get(word.wake)?.wake()
    else drop(word.drop).catch(ended.reject)
  })
  await ended.promise
} catch (error) {
  say({ gone: reasonOf(error) })
}
port.close()

function keep(engine: Engine, number: number, { memory, onBlocked, aloud }: KeptTable): void {
  const table = new LeaseTable(memory)
  const everyMs = table.scanEveryMs
  const keeper = new LeaseKeeper({
    engine,
    table,
    nowMs: machineMs,
    tell: (news) => say({ told: number, news }),
    onBlocked,
    log: harmless(aloud ? stderrLogAtOnce : silentLog),
  })
  const round = async () => Math.min(await keeper.runOnce(), table.scanEveryMs)
  const loop = service({ name: 'lease-keeper', everyMs, timers: realTimers, log: silentLog, round })
  keepers.set(number, loop)
  loop.start()
  say({ ready: number })
}

/** With the last table there is nothing left to do. */
async function drop(number: number): Promise<void> {
  await keepers.get(number)?.stop()
  keepers.delete(number)
  if (keepers.size === 0) ended.resolve()
}
