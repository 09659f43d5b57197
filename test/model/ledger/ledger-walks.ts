/** Random walks beyond what can be explored, each from a seed that is told with what it found; at its end everything heals. */
import { Breach, breach, must } from '../breach.ts'
import type { Scale } from '../configuration.ts'
import { type Draw, drawing } from '../drawing.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import { beginnings } from './beginnings.ts'
import { judge } from './checks.ts'
import { connected } from './faults.ts'
import { LedgerModel } from './model.ts'
import { describe } from './packed.ts'
import type { Protocol } from './protocol.ts'
import { other, type World } from './world.ts'

const WALKS: Readonly<Record<Scale, number>> = { gate: 1_500, full: 30_000, deep: 300_000 }
const STEPS = 70
const BOUNDS = { names: 20, faults: 8 } as const
const HEALED_WITHIN = 120

export function walkLedger(protocol: Protocol, scale: Scale): Exploration {
  const model = new LedgerModel(protocol, BOUNDS)
  const nothing = { units: 0, depth: STEPS, complete: false }
  const starts = beginnings()
  let edges = 0
  for (let seed = 1; seed <= WALKS[scale]; seed += 1) {
    const steps: string[] = []
    try {
      walk(model, starts, seed, steps)
      edges += steps.length
    } catch (error) {
      const { rule, message } = error instanceof Breach ? error : { rule: 'total', message: String(error) }
      const counterexample: Counterexample = { rule, what: message, steps: [`walk ${seed}`, ...steps] }
      return { ...nothing, states: seed, edges, rows: [...model.joins.taken], counterexample }
    }
  }
  return { ...nothing, states: WALKS[scale], edges, rows: [...model.joins.taken], counterexample: undefined }
}

type Take = (label: string, next: () => World) => void

function walk(model: LedgerModel, starts: readonly World[], seed: number, steps: string[]): void {
  const draw = drawing(seed)
  const start = draw(starts.length)
  let world = starts[start] as World
  steps.push(`beginning ${start}: ${describe(world)}`)
  const take: Take = (label, next) => {
    steps.push(label)
    world = next()
    judge(world)
    steps[steps.length - 1] = `${label.padEnd(44)} → ${describe(world)}`
  }
  for (let n = 0; n < STEPS; n += 1) take(...something(model, world, draw))
  heal(model, () => world, take)
}

function something(model: LedgerModel, world: World, draw: Draw): readonly [string, () => World] {
  const all: (readonly [label: string, next: () => World, upTo: number])[] = []
  let sum = 0
  model.successors(world, (label, often, next) => {
    sum += often
    all.push([label, next, sum])
  })
  const dice = draw(sum)
  const found = all.find(([, , upTo]) => dice < upTo)
  if (found === undefined) return breach('total', 'nothing can happen any more')
  return [found[0], found[1]]
}

/** No more faults: both processes find a master, everything that was asked is answered, and whoever looks is told. */
function heal(model: LedgerModel, now: () => World, take: Take): void {
  const [{ server }] = now().processes
  const master = now().servers[server].master ? server : other(server)
  for (const at of [0, 1] as const) take(`p${at + 1} connects to ${'AB'[master]}`, () => connected(now(), at, master))
  settle(model, now, take)
  for (const at of [0, 1] as const) {
    const { name } = now().processes[at].call ?? { name: undefined }
    must(name === undefined, 'heals', `p${at + 1} waits for ${name}`)
    const look = model.look(now(), at)
    must(look !== undefined, 'heals', `p${at + 1} has not joined`)
    take(`p${at + 1} reads`, () => look)
    settle(model, now, take)
    must(now().processes[at].call === undefined, 'heals', `p${at + 1} is not told what it saw`)
  }
  const { ledger, servers } = now()
  must(servers[master].db?.meta.head.name === ledger.head.name, 'heals', 'the server is not where the ledger is')
}

/** The first thing there is to mend, until there is nothing. One process after the other: their pauses differ. */
function settle(model: LedgerModel, now: () => World, take: Take): void {
  for (let n = 0; n < HEALED_WITHIN; n += 1) {
    let first: readonly [string, () => World] | undefined
    model.repairs(now(), (label, _, next) => {
      first ??= [label, next]
    })
    if (first === undefined) return
    take(...first)
  }
  breach('heals', `not within ${HEALED_WITHIN} steps`)
}
