/** Every state of a key that so many steps lead to, breadth first, each judged on the way and healed. */
import { KEY_MACHINE } from '../../../src/core/flow/transitions.ts'
import { Breach } from '../breach.ts'
import type { Scale } from '../configuration.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import type { FlowCore } from './flow-core.ts'
import { beginning, canonical, describe, type KeyBounds, Keys, type KeyWorld } from './key-world.ts'

const BOUNDS: Readonly<Record<Scale, KeyBounds & { readonly states: number }>> = {
  gate: { attempts: 2, depth: 8, states: 100_000 },
  full: { attempts: 3, depth: 10, states: 400_000 },
  deep: { attempts: 3, depth: 12, states: 1_000_000 },
}

interface Node {
  readonly world: KeyWorld
  readonly depth: number
  readonly parent: Node | undefined
  readonly label: string
}

export function exploreKeys(core: FlowCore, scale: Scale): Exploration {
  const bounds = BOUNDS[scale]
  const keys = new Keys(core, bounds)
  const starts = [beginning(2), beginning(undefined), beginning(2, 3)].map(
    (world): Node => ({ world, depth: 0, parent: undefined, label: 'at first' }),
  )
  const known = new Set(starts.map(({ world }) => JSON.stringify(world)))
  const healed = new Set<string>()
  const queue = starts
  let edges = 0
  let last = 0
  let counterexample: Counterexample | undefined
  let head = 0
  for (; head < queue.length && queue.length < bounds.states && counterexample === undefined; head += 1) {
    const node = queue[head] as Node
    last = node.depth
    if (node.depth >= bounds.depth) break
    let label = 'healing'
    try {
      const record = JSON.stringify([node.world.key, node.world.concurrency])
      if (!healed.has(record)) {
        healed.add(record)
        keys.heal(node.world)
      }
      label = 'what came next'
      keys.successors(node.world, (text, next) => {
        edges += 1
        const world = canonical(next)
        const name = JSON.stringify(world)
        if (known.has(name)) return
        known.add(name)
        queue.push({ world, depth: node.depth + 1, parent: node, label: text })
      })
    } catch (error) {
      if (!(error instanceof Breach)) throw error
      counterexample = { rule: error.rule, what: error.message, steps: [...wayTo(node), label] }
    }
  }
  const complete = counterexample === undefined && head >= queue.length
  return {
    states: queue.length,
    edges,
    units: healed.size,
    depth: last,
    complete,
    rows: [...keys.taken],
    counterexample,
  }
}

function wayTo(node: Node): readonly string[] {
  const steps: string[] = []
  for (let at: Node | undefined = node; at !== undefined; at = at.parent)
    steps.unshift(`${at.label.padEnd(24)} → ${describe(at.world)}`)
  return steps
}

export const allKeyRows = (): readonly string[] =>
  Object.entries(KEY_MACHINE).flatMap(([input, cells]) =>
    Object.entries(cells).flatMap(([from, moves]) =>
      moves.map(({ event, to }) => `${input} while ${from} by ${event} to ${to}`),
    ),
  )
