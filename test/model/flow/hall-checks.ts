/** What is judged after every step of a walk: from the jobs and the model's books, not from what the core believes. */
import { PATIENCE_MS } from '../../../src/core/flow/hall.ts'
import { shortageOf } from '../../../src/core/flow/room.ts'
import { countOf } from '../../../src/core/flow/slots.ts'
import { breach, must } from '../breach.ts'
import { type HallKey, type HallWorld, WINDOW } from './hall-world.ts'

/** How many were taken before, by key: what is above its limit may only fall. */
export type Taken = ReadonlyMap<string, number>

export function judgeHall(world: HallWorld, before: Taken): Taken {
  const taken = new Map<string, number>()
  for (const [name, key] of world.keys) {
    const owners = [...world.jobs.values()].filter(
      ({ flow, place }) => (place === 'standing' || place === 'owned') && world.flow(flow).keys.includes(name),
    )
    const held = new Set(key.use.slots.map(({ job }) => job))
    must(held.size === owners.length && owners.every(({ id }) => held.has(id)), 'F3', `slots of ${name}: ${[...held]}`)
    const { concurrency, budget } = key.limit
    const grown = owners.length > (before.get(name) ?? 0)
    must(!grown || owners.length <= (concurrency ?? Infinity), 'F1', `${owners.length} of ${concurrency} under ${name}`)
    if (key.record.state === 'slow')
      must(!grown || owners.length <= key.record.allowed, 'F1', `${owners.length} of ${key.record.allowed} while slow`)
    const standing = owners.some(({ place }) => place === 'standing')
    const isSpent = budget !== undefined && countOf(key.use, world.now).spent >= budget.amount
    const isShut = key.record.state === 'broken' && world.now < key.record.until
    must(
      !(standing && (isShut || isSpent)),
      'F5',
      `something stands under ${name}, which is ${isShut ? 'broken' : 'spent'}`,
    )
    if (key.record.state === 'broken') {
      const since = key.use.slots.filter(({ letInAt }) => letInAt >= key.record.until).length
      must(since <= 1, 'F6', `${since} probes of ${name}`)
    }
    paced(name, key, world.now)
    taken.set(name, owners.length)
  }
  for (const flow of world.flows.keys()) watched(world, flow)
  for (const lane of new Set([...world.flows.values()].map((flow) => flow.lane)))
    must(world.standing(lane) <= WINDOW, 'window', `${world.standing(lane)} stand in ${lane}`)
  for (const { flow, place } of world.jobs.values())
    must(place !== 'standing' || !world.isPaused(world.flow(flow).queue), 'pause', `something of ${flow} stands`)
  return taken
}

/** What the ticker has just looked at: no lane keeps a flow waiting that could stand in it. */
export function judgeTicked(world: HallWorld): void {
  for (const { name, lane, waitsAt } of world.flows.values())
    must(
      waitsAt === undefined || !waitsAt.startsWith('lane ') || world.standing(lane) >= WINDOW,
      'F11',
      `${name} waits at lane ${lane}, which has room`,
    )
}

/** F2, from the claims themselves. */
function paced(name: string, { claims, rates }: HallKey, now: number): void {
  const last = claims.at(-1)
  const current = rates.at(-1)?.rate
  if (last !== now || current === undefined) return
  // What was in force within the window; where there was none, nothing was promised.
  const began = now - current.perMs
  const inForce = rates.filter((_, i) => (rates[i + 1]?.at ?? Infinity) > began)
  if (
    inForce.some(({ rate }) => rate === undefined || rate.perMs !== current.perMs) ||
    rates[0] === undefined ||
    rates[0].at > began
  )
    return
  const most = Math.max(...inForce.map(({ rate }) => rate?.most ?? 0))
  const within = claims.filter((at) => at > began).length
  must(within <= most, 'F2', `${within} claims of ${name} within ${current.perMs} ms, ${most} allowed`)
}

/** F11: whoever is held has somebody who will look. */
function watched(world: HallWorld, name: string): void {
  const [head] = world.held(name)
  if (head === undefined || world.arrivals.has(name)) return
  const { waitsAt, nextAt, queue, lane } = world.flow(name)
  if (nextAt !== undefined)
    return must(nextAt <= Math.max(world.now + PATIENCE_MS, head.readyAt), 'F11', `${name} is looked at too late`)
  if (waitsAt === undefined) return breach('F11', `nobody looks at ${name}`)
  const [kind, place = ''] = [waitsAt.slice(0, waitsAt.indexOf(' ')), waitsAt.slice(waitsAt.indexOf(' ') + 1)]
  if (kind === 'queue') return must(world.isPaused(queue), 'F11', `${name} waits at ${queue}, which is not paused`)
  // The ticker looks at lanes each round.
  if (kind === 'lane') return must(place === lane, 'F11', `${name} waits at another lane`)
  const key = world.keys.get(place) as HallKey
  const shortage = shortageOf(key.use.gate, countOf(key.use, world.now), world.now)
  const wakeAt = key.wakeAt ?? Infinity
  if (shortage === undefined) return must(wakeAt <= world.now, 'F11', `${name} waits at ${place}, which has room`)
  must(shortage.wakeAt === undefined || wakeAt <= shortage.wakeAt, 'F11', `${place} is looked at too late for ${name}`)
}
