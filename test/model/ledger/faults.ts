/** What happens to servers and processes. */
import type { Reach } from './calls.ts'
import { other, type Server, stranger, type World, withProcess, withServer } from './world.ts'

const NAMES = ['A', 'B'] as const

export function reachFaults(world: World, faultsMax: number, reach: Reach): void {
  for (const at of [0, 1] as const) reachFollowing(world, at, reach)
  for (const at of [0, 1] as const) reachConnecting(world, at, reach)
  if (world.faults >= faultsMax) return
  const wounded = { ...world, faults: world.faults + 1 }
  for (const at of [0, 1] as const) {
    reachServerFaults(wounded, at, reach)
    reach(`p${at + 1} dies`, 2, () =>
      withProcess(wounded, at, stranger(world.servers[world.processes[at].server], world.processes[at].server)),
    )
  }
}

/** What is no master has by now what the master has. */
function reachFollowing(world: World, at: 0 | 1, reach: Reach): void {
  const [me, master] = [world.servers[at], world.servers[other(at)]]
  if (me.master || me.db === master.db) return
  reach(`${NAMES[at]} has caught up with ${NAMES[other(at)]}`, 4, () => withServer(world, at, { db: master.db }))
}

function reachConnecting(world: World, at: 0 | 1, reach: Reach): void {
  const process = world.processes[at]
  const there = other(process.server)
  if (!world.servers[there].master) return
  const isStuck = !world.servers[process.server].master
  reach(`p${at + 1} connects to ${NAMES[there]}`, isStuck ? 10 : 3, () => connected(world, at, there))
}

export const connected = (world: World, at: 0 | 1, there: 0 | 1): World =>
  withProcess(world, at, {
    server: there,
    incarnation: world.servers[there].life,
    joined: undefined,
    join: undefined,
  })

function reachServerFaults(world: World, at: 0 | 1, reach: Reach): void {
  const [me, twin] = [world.servers[at], world.servers[other(at)]]
  const name = NAMES[at]
  if (!me.master)
    return reach(`${name} is promoted`, 5, () => {
      const lives = world.lives + 1
      return withServer({ ...world, lives }, at, { master: true, life: `L${lives}` })
    })
  if (me.db !== undefined) reach(`${name} is flushed`, 2, () => withServer(world, at, { db: undefined }))
  reach(`${name} restarts`, 2, () => restarted(world, at, me.db))
  if (twin.master)
    return reach(`${name} follows ${NAMES[other(at)]}`, 5, () => withServer(world, at, { master: false, db: twin.db }))
  if (twin.db === me.db) return
  reach(`${name} restarts from an old file`, 3, () => restarted(world, at, twin.db))
  reach(`${name} goes back unnoticed`, 3, () => withServer(world, at, { db: twin.db }))
}

/** Connections end with it, and what was on its way through them. */
function restarted(world: World, at: 0 | 1, db: Server['db']): World {
  const lives = world.lives + 1
  const flight = world.flight?.server === at ? undefined : world.flight
  let next = withServer({ ...world, lives, flight }, at, { life: `L${lives}`, db })
  for (const n of [0, 1] as const) if (next.processes[n].server === at) next = connected(next, n, at)
  return next
}
