/** Every world that so many steps lead to, breadth first, from several beginnings; each judged on the way. */
import { Breach } from '../breach.ts'
import type { Scale } from '../configuration.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import { beginnings } from './beginnings.ts'
import { judge } from './checks.ts'
import { type LedgerBounds, LedgerModel } from './model.ts'
import { describe, packed } from './packed.ts'
import type { Protocol } from './protocol.ts'
import type { World } from './world.ts'

interface Bounds extends LedgerBounds {
  readonly depth: number
}

const BOUNDS: Readonly<Record<Scale, Bounds>> = {
  gate: { names: 12, faults: 2, depth: 4 },
  full: { names: 12, faults: 2, depth: 5 },
  deep: { names: 12, faults: 2, depth: 6 },
}

interface Node {
  /** Until it was expanded. */
  world: World | undefined
  readonly depth: number
  readonly parent: Node | undefined
  readonly label: string
}

export function exploreLedger(protocol: Protocol, scale: Scale, statesMax: number): Exploration {
  const { depth, ...bounds } = BOUNDS[scale]
  const model = new LedgerModel(protocol, bounds)
  const known = new Set<string>()
  const queue: Node[] = []
  let edges = 0
  let last = 0
  const reached = (world: World, parent: Node | undefined, label: string): void => {
    const text = packed(world)
    if (known.has(text)) return
    known.add(text)
    judge(world)
    queue.push({ world, depth: parent === undefined ? 0 : parent.depth + 1, parent, label })
  }
  let counterexample: Counterexample | undefined
  let node: Node | undefined
  let label = ''
  try {
    for (const [n, world] of beginnings().entries()) reached(world, undefined, `beginning ${n}: ${describe(world)}`)
    for (const next of queue) {
      node = next
      const world = next.world as World
      last = next.depth
      if (next.depth >= depth || queue.length >= statesMax) break
      next.world = undefined
      model.successors(world, (text, _, then) => {
        edges += 1
        label = text
        reached(then(), next, text)
      })
    }
  } catch (error) {
    if (!(error instanceof Breach)) throw error
    counterexample = { rule: error.rule, what: error.message, steps: [...wayTo(node), label] }
  }
  return {
    states: queue.length,
    edges,
    units: 0,
    depth: last,
    complete: false,
    rows: [...model.joins.taken],
    counterexample,
  }
}

function wayTo(node: Node | undefined): readonly string[] {
  const steps: string[] = []
  for (let at = node; at !== undefined; at = at.parent) steps.unshift(at.label)
  return steps
}
