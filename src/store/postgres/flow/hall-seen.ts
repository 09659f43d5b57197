/**
 * The hall as one look has seen it: core draws from it whom to let in. What a look brings is cut off somewhere; where core comes to
 * such an end, that is noted, and somebody looks again.
 */
import { assert } from '../../../core/assert.ts'
import { type Flow, type Hall, type Held, LANE_WINDOW, type Place } from '../../../core/flow/hall.ts'
import type { Priority, Time } from '../../../core/job.ts'
import { type Seen, type SeenFlow, type SeenKey, seenFlow, seenKey } from './seen.ts'

export class HallSeen implements Hall {
  readonly window = LANE_WINDOW
  readonly now: Time
  readonly flows: ReadonlyMap<string, SeenFlow>
  readonly keys: ReadonlyMap<string, SeenKey>
  /** Whose end core came to, and there is more of it. */
  readonly cutOff = { flows: new Set<string>(), places: new Set<Place>() }
  readonly #rings = new Map<string, readonly string[]>()
  readonly #lowest = new Map<string, number>()
  readonly #hungry: ReadonlyMap<string, Time>
  readonly #byLane: ReadonlyMap<string, SeenFlow>
  readonly #byQueue: ReadonlyMap<string, SeenFlow>
  readonly #heads: number

  constructor({ t, r, g, h, fs, ks }: Seen) {
    this.now = t
    this.#heads = h
    this.keys = new Map((ks ?? []).map((row) => [String(row[0]), seenKey(row, t)]))
    const flows = (fs ?? []).map(seenFlow)
    this.flows = new Map(flows.map((seen) => [seen.flow.name, seen]))
    this.#byLane = new Map(flows.map((seen) => [seen.flow.lane, seen]))
    this.#byQueue = new Map(flows.map((seen) => [seen.flow.queue, seen]))
    for (const { flow, lowest } of flows)
      for (const [place, pass] of lowest) this.#lowest.set(ringName(place, flow.priority), pass)
    for (const [place, priority, names] of r ?? []) this.#rings.set(ringName(place, priority), names.map(String))
    this.#hungry = new Map((g ?? []).map(([place, priority, since]) => [ringName(place, priority), since]))
  }

  flow(name: string): Flow {
    return this.seen(name).flow
  }

  *ring(place: Place, priority: Priority): Iterable<Flow> {
    const names = this.#rings.get(ringName(place, priority))
    const lowest = this.#lowest.get(ringName(place, priority))
    if (names === undefined && lowest !== undefined) yield { ...SOMEBODY, waitsAt: place, priority, pass: lowest }
    for (const name of names ?? []) yield this.flow(name)
    // So many of a ring one look brings.
    if (names?.length === LANE_WINDOW) this.cutOff.places.add(place)
  }

  prioritiesAt(place: Place): readonly Priority[] {
    return PRIORITIES.filter((priority) => this.#rings.has(ringName(place, priority)))
  }

  hungrySince(place: Place, priority: Priority): Time {
    return this.#hungry.get(ringName(place, priority)) ?? this.now
  }

  *held(flow: string): Iterable<Held> {
    const { held } = this.seen(flow)
    yield* held
    if (held.length === this.#heads) this.cutOff.flows.add(flow)
  }

  standing(lane: string): number {
    return this.#byLane.get(lane)?.standing ?? 0
  }

  isPaused(queue: string): boolean {
    return this.#byQueue.get(queue)?.isPaused ?? false
  }

  /** The flows that wait there, of those that were looked at. */
  waitingAt(place: Place, priority: Priority): readonly string[] {
    return this.#rings.get(ringName(place, priority)) ?? []
  }

  isWaitedAt(place: Place, priority: Priority): boolean {
    return this.#rings.has(ringName(place, priority)) || this.#lowest.has(ringName(place, priority))
  }

  seen(flow: string): SeenFlow {
    const seen = this.flows.get(flow)
    assert(seen !== undefined, `flow ${flow} was looked at`)
    return seen
  }

  key(name: string): SeenKey {
    const key = this.keys.get(name)
    assert(key !== undefined, `key ${name} was looked at`)
    return key
  }
}

/** Who waits first at a place that was not looked at: of it nothing is known but its pass. */
const SOMEBODY = { name: '', queue: '', lane: '', keys: [], weight: 1, nextAt: undefined }

const PRIORITIES: readonly Priority[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const ringName = (place: Place, priority: Priority): string => `${place} ${priority}`
