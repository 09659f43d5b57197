/**
 * What waits is raised by one priority for each 15 s that it is passed over: a flood of the most urgent jobs, of which another comes as
 * soon as one has begun, keeps nobody waiting for longer than that takes. At a key and at a lane, for each priority, for one second a turn.
 */

import type { Priority } from '../../../src/core/job.ts'
import { AGE_MS } from '../../../src/core/lanes.ts'
import { Breach, must } from '../breach.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import type { FlowCore } from './flow-core.ts'
import { HallWorld } from './hall-world.ts'

const FLOOD = 'flood'
const PATIENT = 'patient'
const LANE = 'p 0'
const TURN_MS = 1_000
/** Of the flood, waiting at any time. */
const WAITING = 3
const PRIORITIES: readonly Priority[] = [1, 2, 5, 9]

export function exploreAgeing(core: FlowCore): Exploration {
  let edges = 0
  for (const [states, priority] of PRIORITIES.entries())
    for (const isAlone of [true, false]) {
      const steps: string[] = [`priority ${priority}, ${isAlone ? 'alone' : 'with strangers'}`]
      try {
        edges += waited(core, priority, isAlone, steps)
      } catch (error) {
        const { rule, message } = error instanceof Breach ? error : { rule: 'total', message: String(error) }
        const counterexample: Counterexample = { rule, what: message, steps }
        return { ...NOTHING, states, edges, counterexample }
      }
    }
  return { ...NOTHING, states: PRIORITIES.length * 2, edges, counterexample: undefined }
}

const NOTHING = { units: 0, depth: 0, complete: true, rows: [] } as const

function waited(core: FlowCore, priority: Priority, isAlone: boolean, steps: string[]): number {
  const world = new HallWorld(core, isAlone, [
    [FLOOD, 'p', 0, ['a'], 1],
    [PATIENT, 'p', priority, ['a'], 1],
  ])
  world.set('a', { concurrency: 1 })
  for (let n = 0; n < WAITING; n += 1) world.insert(FLOOD, 0)
  world.nudge()
  world.insert(PATIENT, 0)
  world.nudge()
  const most = (priority + 1) * AGE_MS + 2 * TURN_MS
  const began = world.now
  for (let turns = 1; ; turns += 1) {
    world.claim(LANE)
    for (const { id, flow, place } of [...world.jobs.values()]) {
      if (flow === PATIENT && place !== 'held') return turns
      if (place !== 'owned') continue
      steps.push(`${world.now - began} ms: ${flow}`)
      world.insert(FLOOD, 0)
      world.nudge()
      world.now += TURN_MS
      world.end(id, 'succeeded', 'ended')
    }
    world.due()
    must(world.now - began <= most, 'ageing', `priority ${priority} has waited for more than ${most} ms`)
  }
}
