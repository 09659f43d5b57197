/**
 * The keeper thread: opens the store by itself and keeps the leases of this process's workers, whatever their loop does.
 *
 * It opens the store when the first heartbeat is due: most jobs end long before, and loading what a store is made of took
 * each start of a worker 0.4 s of CPU. Where leases are short it is opened at once, since there would be no time for that.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from './core/assert.ts'
import { reasonOf } from './core/reason.ts'
import type { Engine } from './engine/engine.ts'
import type { Pawl } from './library/pawl.ts'
import { harmless, silentLog, stderrLogAtOnce } from './system/log.ts'
import { machineMs } from './system/machine-clock.ts'
import { type Service, service } from './system/service.ts'
import { realTimers } from './system/timers.ts'
import type { FromKeeper, KeptTable, StoreAddress, ToKeeper } from './worker/keeper-thread.ts'
import { LeaseKeeper } from './worker/lease-keeper.ts'
import { LeaseTable } from './worker/lease-table.ts'

assert(parentPort !== null, 'the keeper is a thread')
const port = parentPort
const { url, ...store } = workerData as StoreAddress
const say = (message: FromKeeper): void => port.postMessage(message)

/** Nothing but leases is seen to here; while there are none, no connection is kept for them. */
const ALONE = { ticker: false, retention: false, idleConnections: 0, log: 'silent' } as const

/** Tables that are looked at more often have leases that a store which is still to be opened might be too late for. */
const HURRIED_BELOW_MS = 1_000

/** By the number of the table. They differ in how often they must be looked at, so each has a loop of its own. */
const keepers = new Map<number, { readonly table: LeaseTable; readonly loop: Service }>()
const ended = Promise.withResolvers<void>()
let opened: Promise<Pawl> | undefined

const engine: Pick<Engine, 'heartbeat'> = {
  async heartbeat(beats) {
    const pawl = await opening()
    return pawl.engine.heartbeat(beats)
  },
}

port.on('message', (word: ToKeeper) => {
  if ('keep' in word) keep(word.keep, word.table).catch(ended.reject)
  else if ('wake' in word) wake(word.wake)
  else drop(word.drop).catch(ended.reject)
})
try {
  await ended.promise
  await (await opened)?.close()
} catch (error) {
  say({ gone: reasonOf(error) })
  // A thread ends when nothing is left that could happen in it.
  await Promise.all([...keepers.values()].map(({ loop }) => loop.stop()))
}
port.close()

/** Who cannot open the store keeps nothing: the workers are told, and keep their leases themselves. */
function opening(): Promise<Pawl> {
  if (opened === undefined) {
    opened = import('./open.ts').then(({ open }) => open(url, { ...store, ...ALONE }))
    opened.catch(ended.reject)
  }
  return opened
}

function isHurried({ scanEveryMs }: LeaseTable): boolean {
  return scanEveryMs < HURRIED_BELOW_MS
}

async function keep(number: number, { memory, onBlocked, aloud }: KeptTable): Promise<void> {
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
  keepers.set(number, { table, loop })
  if (isHurried(table)) await opening()
  // Meanwhile it may have been dropped.
  if (!keepers.has(number)) return
  loop.start()
  say({ ready: number })
}

function wake(number: number): void {
  const kept = keepers.get(number)
  if (kept === undefined) return
  if (isHurried(kept.table)) void opening()
  kept.loop.wake()
}

/** With the last table there is nothing left to do. */
async function drop(number: number): Promise<void> {
  const kept = keepers.get(number)
  keepers.delete(number)
  await kept?.loop.stop()
  if (keepers.size === 0) ended.resolve()
}
