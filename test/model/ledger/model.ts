/** Everything that may happen next. */
import { Calls, type Reach } from './calls.ts'
import { reachFaults } from './faults.ts'
import { Joins } from './joins.ts'
import type { Protocol } from './protocol.ts'
import type { World } from './world.ts'

export interface LedgerBounds {
  readonly names: number
  readonly faults: number
}

export class LedgerModel {
  readonly joins: Joins
  readonly #calls: Calls
  readonly #bounds: LedgerBounds

  constructor(protocol: Protocol, bounds: LedgerBounds) {
    this.#calls = new Calls(protocol, bounds.names)
    this.joins = new Joins(protocol, this.#calls)
    this.#bounds = bounds
  }

  successors(world: World, reach: Reach): void {
    for (const at of [0, 1] as const) this.#calls.reach(world, at, reach)
    this.repairs(world, reach)
    this.#calls.reachFold(world, reach)
    reachFaults(world, this.#bounds.faults, reach)
  }

  /** What answers calls and makes servers fit, without asking for anything new. */
  repairs(world: World, reach: Reach): void {
    // Who loads folds first: what is not folded could not be loaded.
    if (world.processes.some(({ join }) => join?.step === 'load')) this.#calls.reachFolding(world, reach)
    for (const at of [0, 1] as const) {
      this.#calls.reachAnswer(world, at, reach)
      this.joins.reach(world, at, reach)
    }
    this.#calls.reachFlight(world, reach)
    this.#calls.reachShipping(world, reach)
  }

  /** Undefined where the server does not take calls of this process. */
  look(world: World, at: 0 | 1): World | undefined {
    return this.#calls.look(world, at)
  }
}
