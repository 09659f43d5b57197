import { assert } from '../../core/assert.ts'
import type { Flow, Place } from '../../core/flow/hall.ts'
import { flowNameOf, weighedBy } from '../../core/flow/membership.ts'
import type { Job, Time } from '../../core/job.ts'
import { queueKey } from '../store.ts'
import { Agenda } from './agenda.ts'
import { Rings } from './rings.ts'

export interface FlowShelf {
  flow: Omit<Flow, 'weight'>
  /** Its jobs, by time and number. */
  readonly held: Agenda
  readonly number: number
}

/** Flows at rest whose passes are remembered: a flow that comes back does not find its turns forgotten. */
const RESTING_MOST = 10_000
const HELD_SHOWN_MOST = 1_000

/** The flows that hold jobs, each once: where it waits, and when it is to be looked at. */
export class Flows {
  readonly rings = new Rings()
  /** Flows that are to be looked at though nobody frees anything. */
  readonly nexts = new Agenda()
  readonly #flows = new Map<string, FlowShelf>()
  readonly #resting = new Map<string, number>()
  #made = 0

  has(name: string): boolean {
    return this.#flows.has(name)
  }

  find(name: string): FlowShelf | undefined {
    return this.#flows.get(name)
  }

  get(name: string): FlowShelf {
    const shelf = this.#flows.get(name)
    assert(shelf !== undefined, `the flow ${name} holds a job`)
    return shelf
  }

  /** The flow that a job waits in, which is made with the first. */
  of(job: Job): FlowShelf {
    const place = whereaboutsOf(job)
    const known = this.#flows.get(place.flow)
    if (known !== undefined) return known
    const { flow: name, queue, lane, keys } = place
    const account = keyId(job.spec.kind.tenant, weighedBy(job.spec.flow ?? NO_FLOW) ?? '')
    const pass = this.#resting.get(name) ?? 0
    this.#resting.delete(name)
    this.#made += 1
    const shelf: FlowShelf = {
      flow: { name, queue, lane, priority: job.priority, keys, account, pass, waitsAt: undefined, nextAt: undefined },
      held: new Agenda(),
      number: this.#made,
    }
    this.#flows.set(name, shelf)
    return shelf
  }

  set(shelf: FlowShelf, flow: FlowShelf['flow'], now: Time): void {
    this.rings.leave(shelf.flow)
    shelf.flow = flow
    this.rings.enter(flow, shelf.number, now)
    this.nexts.set(flow.name, flow.nextAt, shelf.number)
  }

  /** It holds nothing any more. */
  rest({ flow }: FlowShelf): void {
    this.rings.leave(flow)
    this.nexts.remove(flow.name)
    this.#flows.delete(flow.name)
    this.#resting.set(flow.name, flow.pass)
    if (this.#resting.size > RESTING_MOST) this.#resting.delete(this.#resting.keys().next().value as string)
  }

  /** Jobs held by flows that wait at a place, counted so far. */
  heldAt(place: Place): number {
    let held = 0
    for (const priority of this.rings.prioritiesAt(place)) {
      for (const name of this.rings.at(place, priority)) {
        held += this.get(name).held.size
        if (held >= HELD_SHOWN_MOST) return HELD_SHOWN_MOST
      }
    }
    return held
  }

  /** Whether a job is held that names this key. */
  name(key: string): boolean {
    for (const { flow } of this.#flows.values()) if (flow.keys.includes(key)) return true
    return false
  }
}

/** The store's own names for what can stop a job. */
export interface Whereabouts {
  readonly flow: string
  readonly queue: string
  readonly lane: string
  readonly keys: readonly string[]
}

export function whereaboutsOf(job: Job): Whereabouts {
  const { tenant, queue } = job.spec.kind
  const { keys } = job.spec.flow ?? NO_FLOW
  return {
    flow: flowNameOf(job) ?? '',
    queue: queueKey(tenant, queue),
    lane: JSON.stringify([tenant, queue, job.priority, job.needs ?? null]),
    keys: keys.map((key) => keyId(tenant, key)),
  }
}

export const keyId = (tenant: string, key: string): string => JSON.stringify([tenant, key])

const NO_FLOW = { keys: [], fair: undefined } as const
