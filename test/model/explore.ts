/** Breadth first, so that the first breach found is among the shortest there are. */
import { Breach } from './breach.ts'
import type { Configuration, Scale } from './configuration.ts'
import type { Core } from './core.ts'
import { Liveness } from './liveness.ts'
import { Machine } from './machine.ts'
import type { Packed } from './packing.ts'
import { StateSet } from './state-set.ts'
import { World } from './world.ts'

export interface Exploration {
  readonly states: number
  readonly edges: number
  /** Distinct records, and the longest of all shortest ways to a state. */
  readonly units: number
  readonly depth: number
  /** Every state within the bounds was reached. */
  readonly complete: boolean
  /** The rows of the machine that were taken on the way. */
  readonly rows: readonly string[]
  readonly counterexample: Counterexample | undefined
}

export interface Counterexample {
  readonly rule: string
  readonly what: string
  readonly steps: readonly string[]
}

export function explore(core: Core, configuration: Configuration, scale: Scale, statesMax: number): Exploration {
  const machine = new Machine(core, configuration)
  const world = new World(machine, configuration.bounds[scale])
  const liveness = new Liveness(machine)
  const states = new StateSet(world.width)
  const vetted: boolean[] = [true]
  let edges = 0
  let head = -1
  let depth = 0
  let levelEnd = 1

  // Where in the expansion of a state it happened: that many successors in, and whether in judging the last of them.
  let emitted = 0
  let reaching = false
  const reach = (next: Packed): void => {
    edges += 1
    emitted += 1
    reaching = true
    visit(next)
    reaching = false
  }
  const visit = (next: Packed): void => {
    if (!states.add(next, head)) return
    world.check(next)
    for (const unit of world.units(next)) {
      if (vetted[unit]) continue
      vetted[unit] = true
      machine.probe(unit)
      liveness.check(unit)
    }
  }

  let counterexample: Counterexample | undefined
  states.add(world.initial(), 0)
  try {
    for (head = 0; head < states.size && states.size < statesMax; head += 1) {
      if (head === levelEnd) {
        depth += 1
        levelEnd = states.size
      }
      emitted = 0
      world.successors(states.get(head), reach)
    }
  } catch (error) {
    if (!(error instanceof Breach)) throw error
    counterexample = {
      rule: error.rule,
      what: error.message,
      steps: explain(world, states, head, reaching ? emitted : Infinity),
    }
  }
  const complete = counterexample === undefined && head >= states.size
  return {
    states: states.size,
    edges,
    units: machine.units.length - 1,
    depth,
    complete,
    rows: [...machine.taken],
    counterexample,
  }
}

/** The way to the state in which it happened, and what was tried there: its `nth` step, or the one that throws. */
function explain(world: World, states: StateSet, last: number, nth: number): readonly string[] {
  world.explaining = true
  const path = [last]
  for (let at = last; at !== 0; ) {
    at = states.parent(at)
    path.unshift(at)
  }
  const steps: string[] = []
  for (const [i, at] of path.entries()) {
    const next = path[i + 1]
    steps.push(
      next === undefined ? lastStep(world, states.get(at), nth) : step(world, states.get(at), states.get(next)),
    )
  }
  world.explaining = false
  return steps
}

function step(world: World, from: Packed, to: Packed): string {
  let text = ''
  world.successors(from, (next) => {
    if (text === '' && next.every((value, i) => value === to[i])) text = line(world, to)
  })
  return text
}

function lastStep(world: World, from: Packed, nth: number): string {
  let text: string | undefined
  let n = 0
  try {
    world.successors(from, (next) => {
      n += 1
      if (n === nth) text = line(world, next)
    })
  } catch (error) {
    if (!(error instanceof Breach)) throw error
  }
  return text ?? world.label
}

const line = (world: World, to: Packed): string => `${world.label.padEnd(48)} → ${world.describe(to)}`
