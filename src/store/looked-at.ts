/**
 * The hall as one look of a store has seen it: core draws from it whom to let in. What a look brings is cut off somewhere; where
 * core comes to such an end, that is noted, and somebody looks again.
 */
import { assert } from '../core/assert.ts'
import { type Flow, type Hall, type Held, LANE_WINDOW, type Place } from '../core/flow/hall.ts'
import type { Counted } from '../core/flow/slots.ts'
import { EVERY_PRIORITY, type Priority, type Time } from '../core/job.ts'

/** A flow that was looked at, with what stands in its lane and who of it waits. */
export interface FlowSeen {
  /** As core knows it: with the store's numbers for names. */
  readonly flow: Flow
  readonly held: readonly Held[]
  readonly standing: number
  readonly isPaused: boolean
}

/** What a look brings. */
export interface Look<F extends FlowSeen, K extends Counted> {
  readonly now: Time
  readonly flows: readonly F[]
  readonly keys: ReadonlyMap<string, K>
  readonly rings: readonly (readonly [place: Place, priority: Priority, flows: readonly string[]])[]
  readonly hungry: readonly (readonly [place: Place, priority: Priority, since: Time])[]
  /** Of places that those flows might wait at, who waits there: the first, by its pass; and the last of one account. */
  readonly firsts: readonly (readonly [place: Place, priority: Priority, pass: number])[]
  readonly lasts: readonly (readonly [place: Place, priority: Priority, account: string, pass: number])[]
  /** How many of a ring, and how many who wait in a flow, it brings at most. */
  readonly ringMost: number
  readonly heldMost: number
}

export class LookedAt<F extends FlowSeen, K extends Counted> implements Hall {
  readonly window = LANE_WINDOW
  readonly now: Time
  /** Whose end core came to, and there is more of it. */
  readonly cutOff = { flows: new Set<string>(), places: new Set<Place>() }
  readonly #look: Look<F, K>
  readonly #flows: ReadonlyMap<string, F>
  readonly #byLane: ReadonlyMap<string, F>
  readonly #byQueue: ReadonlyMap<string, F>
  readonly #rings: ReadonlyMap<string, readonly string[]>
  readonly #hungry: ReadonlyMap<string, Time>
  readonly #lowest: ReadonlyMap<string, number>
  readonly #last: ReadonlyMap<string, number>

  constructor(look: Look<F, K>) {
    const { now, flows, rings, hungry, firsts, lasts } = look
    this.#look = look
    this.now = now
    this.#flows = new Map(flows.map((seen) => [seen.flow.name, seen]))
    this.#byLane = new Map(flows.map((seen) => [seen.flow.lane, seen]))
    this.#byQueue = new Map(flows.map((seen) => [seen.flow.queue, seen]))
    this.#rings = new Map(rings.map(([place, priority, names]) => [ringName(place, priority), names]))
    this.#hungry = new Map(hungry.map(([place, priority, since]) => [ringName(place, priority), since]))
    this.#lowest = new Map(firsts.map(([place, priority, pass]) => [ringName(place, priority), pass]))
    this.#last = new Map(
      lasts.map(([place, priority, account, pass]) => [accountName(ringName(place, priority), account), pass]),
    )
  }

  flow(name: string): Flow {
    return this.seen(name).flow
  }

  *ring(place: Place, priority: Priority): Iterable<Flow> {
    const names = this.#rings.get(ringName(place, priority))
    const lowest = this.#lowest.get(ringName(place, priority))
    if (names === undefined && lowest !== undefined) yield { ...SOMEBODY, waitsAt: place, priority, pass: lowest }
    for (const name of names ?? []) if (this.knows(name)) yield this.flow(name)
    if (names?.length === this.#look.ringMost) this.cutOff.places.add(place)
  }

  lastOf(place: Place, priority: Priority, account: string): number | undefined {
    return this.#last.get(accountName(ringName(place, priority), account))
  }

  prioritiesAt(place: Place): readonly Priority[] {
    return EVERY_PRIORITY.filter((priority) => this.#rings.has(ringName(place, priority)))
  }

  hungrySince(place: Place, priority: Priority): Time {
    return this.#hungry.get(ringName(place, priority)) ?? this.now
  }

  *held(flow: string): Iterable<Held> {
    const { held } = this.seen(flow)
    yield* held
    if (held.length === this.#look.heldMost) this.cutOff.flows.add(flow)
  }

  key(name: string): K {
    const key = this.#look.keys.get(name)
    assert(key !== undefined, `key ${name} was looked at`)
    return key
  }

  standing(lane: string): number {
    return this.#byLane.get(lane)?.standing ?? 0
  }

  isPaused(queue: string): boolean {
    return this.#byQueue.get(queue)?.isPaused ?? false
  }

  seen(flow: string): F {
    const seen = this.#flows.get(flow)
    assert(seen !== undefined, `flow ${flow} was looked at`)
    return seen
  }

  knows(flow: string): boolean {
    return this.#flows.has(flow)
  }

  /** The flows that wait there, of those that were looked at. */
  waitingAt(place: Place, priority: Priority): readonly string[] {
    return this.#rings.get(ringName(place, priority)) ?? []
  }

  isWaitedAt(place: Place, priority: Priority): boolean {
    return this.#rings.has(ringName(place, priority)) || this.#lowest.has(ringName(place, priority))
  }
}

/** Who waits first at a place that was not looked at: of it nothing is known but its pass. */
const SOMEBODY = { name: '', queue: '', lane: '', keys: [], account: '', weight: 1, nextAt: undefined }

const ringName = (place: Place, priority: Priority): string => `${place} ${priority}`
const accountName = (ring: string, account: string): string => `${ring} ${account}`
