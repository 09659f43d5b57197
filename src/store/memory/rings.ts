import type { Flow, Place } from '../../core/flow/hall.ts'
import type { Priority, Time } from '../../core/job.ts'
import { Agenda } from './agenda.ts'

type Waiter = Pick<Flow, 'name' | 'waitsAt' | 'priority' | 'account' | 'pass'>

interface Ring {
  /** The flows that wait, by their passes. */
  readonly flows: Agenda
  /** Those of each account, the highest pass first. */
  readonly accounts: Map<string, Agenda>
  /** Since when nothing of them has been let in. */
  hungrySince: Time
}

/** Flows that wait, by place and priority. A ring in which nobody waits is not kept. */
export class Rings {
  readonly #rings = new Map<Place, Map<Priority, Ring>>()

  prioritiesAt(place: Place): readonly Priority[] {
    return [...(this.#rings.get(place)?.keys() ?? [])]
  }

  /** Names of flows at a place, the lowest pass first. */
  *at(place: Place, priority: Priority): Generator<string> {
    const ring = this.#rings.get(place)?.get(priority)
    if (ring !== undefined) for (const { name } of ring.flows.ordered()) yield name
  }

  lastOf(place: Place, priority: Priority, account: string): number | undefined {
    const last = this.#rings.get(place)?.get(priority)?.accounts.get(account)?.first()
    return last === undefined ? undefined : -last.at
  }

  hungrySince(place: Place, priority: Priority): Time | undefined {
    return this.#rings.get(place)?.get(priority)?.hungrySince
  }

  fed(place: Place, priority: Priority, now: Time): void {
    const ring = this.#rings.get(place)?.get(priority)
    if (ring !== undefined) ring.hungrySince = now
  }

  /** Whether anybody waits there. */
  has(place: Place): boolean {
    return this.#rings.has(place)
  }

  places(): IterableIterator<Place> {
    return this.#rings.keys()
  }

  /** How many wait there. */
  sizeAt(place: Place): number {
    let size = 0
    for (const { flows } of this.#rings.get(place)?.values() ?? []) size += flows.size
    return size
  }

  enter({ name, waitsAt, priority, account, pass }: Waiter, number: number, now: Time): void {
    if (waitsAt === undefined) return
    const rings = this.#rings.get(waitsAt) ?? new Map<Priority, Ring>()
    this.#rings.set(waitsAt, rings)
    const ring = rings.get(priority) ?? { flows: new Agenda(), accounts: new Map<string, Agenda>(), hungrySince: now }
    rings.set(priority, ring)
    ring.flows.set(name, pass, number)
    const others = ring.accounts.get(account) ?? new Agenda()
    ring.accounts.set(account, others)
    others.set(name, -pass, number)
  }

  leave({ name, waitsAt, priority, account }: Waiter): void {
    const rings = waitsAt === undefined ? undefined : this.#rings.get(waitsAt)
    const ring = rings?.get(priority)
    if (waitsAt === undefined || rings === undefined || ring === undefined) return
    ring.flows.remove(name)
    const others = ring.accounts.get(account)
    others?.remove(name)
    if (others?.size === 0) ring.accounts.delete(account)
    if (ring.flows.size === 0) rings.delete(priority)
    if (rings.size === 0) this.#rings.delete(waitsAt)
  }
}
