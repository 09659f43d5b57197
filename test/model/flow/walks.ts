/** Random walks through the hall, each from a seed that is told with what it found; and at its end everything heals. */
import type { Limit } from '../../../src/core/flow/key.ts'
import { Breach, breach } from '../breach.ts'
import type { Scale } from '../configuration.ts'
import { type Draw, drawing } from '../drawing.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import type { FlowCore } from './flow-core.ts'
import { judgeHall, judgeTicked, type Taken } from './hall-checks.ts'
import { type HallJob, HallWorld, KEY_NAMES, LANES } from './hall-world.ts'

const WALKS: Readonly<Record<Scale, number>> = { gate: 300, full: 20_000, deep: 60_000 }
const STEPS = 120
const HEALED_WITHIN = 900
/** Of so many walks one heals from each of its states, and not only from its last. */
const HEALS_EVERY: Readonly<Record<Scale, number>> = { gate: 100, full: 200, deep: 200 }

export function walk(core: FlowCore, scale: Scale): Exploration {
  let edges = 0
  for (let seed = 1; seed <= WALKS[scale]; seed += 1) {
    const steps: string[] = []
    try {
      const world = new HallWorld(core, seed % 2 === 0)
      const healsFrom = seed % HEALS_EVERY[scale] < 2 ? (from: Taken) => healed(world.copy(), from) : undefined
      edges += walkOnce(world, seed, steps, healsFrom)
    } catch (error) {
      const { rule, message } = error instanceof Breach ? error : { rule: 'total', message: String(error) }
      const counterexample: Counterexample = { rule, what: message, steps: [`walk ${seed}`, ...steps] }
      return { ...NOTHING, states: seed, edges, counterexample }
    }
  }
  return { ...NOTHING, states: WALKS[scale], edges, counterexample: undefined }
}

const NOTHING = { units: 0, depth: STEPS, complete: false, rows: [] } as const

export function walkOnce(
  world: HallWorld,
  seed: number,
  steps: string[],
  healsFrom: (taken: Taken) => void = () => {},
): number {
  const draw = drawing(seed)
  let taken: Taken = new Map()
  const step = (label: string, act: () => void): void => {
    steps.push(`${String(world.now).padStart(9)}  ${label}`)
    act()
    taken = judgeHall(world, taken)
    if (label === 'due') judgeTicked(world)
  }
  for (const name of KEY_NAMES) {
    const limit = limitFrom(draw)
    step(`set ${name} ${JSON.stringify(limit)}`, () => world.set(name, limit))
  }
  for (let n = 0; n < STEPS; n += 1) {
    step(...something(world, draw))
    healsFrom(taken)
  }
  heal(world, step, SERVED)
  heal(world, step, LANES)
  return steps.length
}

/** Whatever state it is in. */
function healed(world: HallWorld, from: Taken): void {
  let taken = from
  const step = (_: string, act: () => void): void => {
    act()
    taken = judgeHall(world, taken)
  }
  heal(world, step, SERVED)
  heal(world, step, LANES)
}

type Act = readonly [label: string, act: () => void]

function something(world: HallWorld, draw: Draw): Act {
  const dice = draw(100)
  const flow = pick([...world.flows.keys()], draw) ?? ''
  if (dice < 26) {
    const delayMs = draw(5) === 0 ? 3_000 : 0
    return [`insert ${flow} in ${delayMs}`, () => world.insert(flow, delayMs)]
  }
  if (dice < 34) return ['nudge', () => world.nudge()]
  if (dice < 44) return ['due', () => world.due()]
  if (dice < 62) {
    const lane = pick(LANES, draw) ?? ''
    return [`claim ${lane}`, () => world.claim(lane)]
  }
  if (dice < 78) return ending(world, draw)
  if (dice < 88) {
    const ms = pick([1, 1, 500, 999, 1_000, 5_000, 60_000], draw) ?? 1
    return [`${ms} later`, () => (world.now += ms)]
  }
  const key = pick(KEY_NAMES, draw) ?? 'a'
  if (dice < 92) {
    const limit = limitFrom(draw)
    return [`set ${key} ${JSON.stringify(limit)}`, () => world.set(key, limit)]
  }
  if (dice < 94) return [`spend ${key}`, () => world.spend(key, 3)]
  if (dice < 96) {
    const type = pick(['reset', 'probe'] as const, draw) ?? 'reset'
    return [`${type} ${key}`, () => world.operate(key, type)]
  }
  if (dice < 98) return moving(world, draw)
  const queue = pick(['p', 'q'], draw) ?? 'p'
  return world.isPaused(queue)
    ? [`resume ${queue}`, () => world.unpause(queue)]
    : [`pause ${queue}`, () => world.pause(queue)]
}

/** A held or standing job is another flow's of its queue, or another time's. */
function moving(world: HallWorld, draw: Draw): Act {
  const job = pick([...jobsIn(world, 'standing'), ...jobsIn(world, 'held')], draw)
  if (job === undefined) return ['due', () => world.due()]
  const { queue } = world.flow(job.flow)
  const there = [...world.flows.values()].filter((flow) => flow.queue === queue)
  const flow = draw(2) === 0 ? job.flow : (pick(there, draw)?.name ?? job.flow)
  const delayMs = pick([0, 700, 3_000], draw) ?? 0
  return [`move ${job.id} to ${flow} in ${delayMs}`, () => world.move(job.id, flow, delayMs)]
}

function ending(world: HallWorld, draw: Draw): Act {
  const asleep = jobsIn(world, 'aside')
  const sleeper = draw(4) === 0 ? pick(asleep, draw) : undefined
  if (sleeper !== undefined) return [`signal ${sleeper.id}`, () => world.resume(sleeper.id)]
  const live = [
    ...jobsIn(world, 'owned'),
    ...jobsIn(world, 'owned'),
    ...jobsIn(world, 'standing'),
    ...jobsIn(world, 'held'),
  ]
  const job = pick(live, draw)
  if (job === undefined) return ['due', () => world.due()]
  if (job.place !== 'owned') return [`cancel ${job.id}`, () => world.end(job.id, undefined, 'ended')]
  const signal = pick(
    ['succeeded', 'succeeded', 'succeeded', 'throttled', 'retry_after', 'unavailable', undefined] as const,
    draw,
  )
  const then = signal === 'succeeded' ? 'ended' : (pick(['again', 'aside', 'ended'] as const, draw) ?? 'ended')
  return [`${signal} ${job.id}, ${then}`, () => world.end(job.id, signal, then, pick([0, 700], draw))]
}

/** At first nobody serves queue q, whose jobs have keys in common with the others. */
const SERVED: readonly string[] = LANES.filter((lane) => lane !== 'q 5')

/** Nothing but successes from now on, with traffic for every key: all that is held in these lanes runs, and every key opens. */
function heal(world: HallWorld, step: (label: string, act: () => void) => void, lanes: readonly string[]): void {
  for (const queue of ['p', 'q']) if (world.isPaused(queue)) step(`resume ${queue}`, () => world.unpause(queue))
  for (const { id } of jobsIn(world, 'aside')) step(`signal ${id}`, () => world.resume(id))
  for (let n = 0; n < HEALED_WITHIN; n += 1) {
    const shut = [...world.keys.values()].some(({ record }) => record.state !== 'open')
    const busy = [...world.jobs.values()].some(
      ({ place, flow }) => place !== 'ended' && lanes.includes(world.flow(flow).lane),
    )
    if (!shut && !busy) return
    if (shut && n % 5 === 0) for (const flow of ['b', 'urgent']) step(`insert ${flow}`, () => world.insert(flow, 0))
    step('due', () => world.due())
    for (const lane of lanes) for (let i = 0; i < 2; i += 1) step(`claim ${lane}`, () => world.claim(lane))
    for (const { id } of jobsIn(world, 'owned')) step(`succeeded ${id}`, () => world.end(id, 'succeeded', 'ended'))
    step('1000 later', () => (world.now += 1_000))
  }
  breach('F13', `after ${HEALED_WITHIN} s of nothing but successes something is held, or a key is not open`)
}

function limitFrom(draw: Draw): Limit {
  const kind = draw(5)
  if (kind === 0) return {}
  const concurrency = kind === 1 ? undefined : 1 + draw(3)
  const rate = kind === 3 || kind === 1 ? { most: 1 + draw(2), perMs: 1_000 } : undefined
  const budget = kind === 4 ? { amount: 3, perMs: 60_000 } : undefined
  return { concurrency, rate, budget }
}

const jobsIn = (world: HallWorld, place: HallJob['place']): readonly HallJob[] =>
  [...world.jobs.values()].filter((job) => job.place === place)

const pick = <T>(from: readonly T[], draw: Draw): T | undefined => from[draw(from.length)]
