/**
 * Who is let in by one commit. Flows take turns: the most urgent priority first (raised by one for each `ageMs` that it was passed
 * over), within it the lowest pass; those of one account have the turns of one. The first job of the flow whose turn it is gets a slot of every key it has and a place in
 * its lane, or nothing at all: then the flow waits at the first thing that is in the way.
 */

import type { JobId, Priority, Time } from '../job.ts'
import { AGE_MS, urgencyOf } from '../lanes.ts'
import {
  atKey,
  atLane,
  atQueue,
  type Flow,
  type Hall,
  type Held,
  joiningPass,
  LET_IN_MOST,
  type Place,
  passedOn,
} from './hall.ts'
import { shortageOf } from './room.ts'
import { type Counted, oneMore } from './slots.ts'

export interface Admission {
  readonly job: JobId
  readonly flow: string
  readonly keys: readonly string[]
}

export interface LetIn {
  /** Each with a slot of all its keys, in one commit. */
  readonly admitted: readonly Admission[]
  /** Flows as they are now, those that changed. */
  readonly flows: readonly Flow[]
  /** When somebody must look at a key again, though nobody frees anything of it. */
  readonly wakes: ReadonlyMap<string, Time>
  /** Places of which a priority was served: it is not hungry any more. */
  readonly fed: readonly { readonly place: Place; readonly priority: Priority }[]
  /** Places that were not done with: to be looked at again at once. */
  readonly again: readonly Place[]
}

/** `places`: freed or changed; `arrived`: flows with new jobs, or whose time has come. */
export function letIn(hall: Hall, places: readonly Place[], arrived: readonly string[], now: Time): LetIn {
  const rings = ringsOf(hall, places, arrived, now)
  const round = new Round(hall, now)
  let tries = 0
  while (round.admitted.length < LET_IN_MOST.jobs && tries < LET_IN_MOST.tries) {
    const ring = mostUrgent(rings)
    if (ring === undefined) break
    tries += 1
    const next = round.tryOne(ring)
    if (next === undefined) continue
    if (typeof next === 'object') {
      ring.putBack(next)
      round.feed(ring)
      // What is in the way of one that waits here is in the way of all of them.
    } else if (next === ring.place) for (const each of rings) if (each.place === next) each.close()
  }
  const unfinished = rings.filter((ring) => ring.lowest() !== undefined)
  for (const ring of unfinished) for (const flow of ring.left()) round.leave({ ...flow, nextAt: now })
  const again = unfinished.map(({ place }) => place).filter((place) => place !== undefined)
  return { ...round.outcome(), again: [...new Set(again)] }
}

/** Flows of one priority that take turns: those that were drawn and stay, and those that nobody has looked at yet. */
class Ring {
  readonly place: Place | undefined
  readonly priority: Priority
  readonly urgency: number
  readonly #source: Iterator<Flow>
  readonly #lastOf: (account: string) => number | undefined
  /** The highest pass of each account that has had a turn here. */
  readonly #last = new Map<string, number>()
  #next: Flow | undefined
  #back: Flow[] = []

  constructor(
    { place, priority, urgency }: Pick<Ring, 'place' | 'priority' | 'urgency'>,
    flows: Iterable<Flow>,
    lastOf: (account: string) => number | undefined,
  ) {
    this.place = place
    this.priority = priority
    this.urgency = urgency
    this.#lastOf = lastOf
    this.#source = flows[Symbol.iterator]()
    this.#next = drawnFrom(this.#source)
  }

  lowest(): number | undefined {
    return lowestOf([...this.#back, ...(this.#next === undefined ? [] : [this.#next])].map(({ pass }) => pass))
  }

  /** The flow whose turn it is. */
  take(): Flow {
    const lowest = this.lowest()
    const at = this.#back.findIndex(({ pass }) => pass === lowest)
    const flow = at < 0 ? this.#next : this.#back[at]
    if (at < 0) this.#next = drawnFrom(this.#source)
    else this.#back = this.#back.toSpliced(at, 1)
    return flow as Flow
  }

  /** Its pass once it has had the turn that it has now. */
  passOf(flow: Flow): number {
    return passedOn(flow, this.#last.get(flow.account) ?? this.#lastOf(flow.account))
  }

  putBack(flow: Flow): void {
    this.#last.set(flow.account, flow.pass)
    this.#back.push(flow)
  }

  /** Nobody's turn comes any more: whoever waits at the place goes on waiting there. */
  close(): void {
    this.#back = []
    this.#next = undefined
  }

  /** Those that somebody must come back for: of a place, only who was drawn; whoever waits there is found there. */
  left(): readonly Flow[] {
    if (this.place !== undefined || this.#next === undefined) return this.#back
    const others = [this.#next]
    for (let flow = drawnFrom(this.#source); flow !== undefined; flow = drawnFrom(this.#source)) others.push(flow)
    return [...this.#back, ...others]
  }
}

const lowestOf = (passes: readonly number[]): number | undefined =>
  passes.length === 0 ? undefined : Math.min(...passes)

function drawnFrom<T>(source: Iterator<T>): T | undefined {
  const { value, done } = source.next()
  return done === true ? undefined : value
}

function ringsOf(hall: Hall, places: readonly Place[], arrived: readonly string[], now: Time): readonly Ring[] {
  const rings = [...new Set(places)].flatMap((place) =>
    hall.prioritiesAt(place).map((priority) => {
      const urgency = urgencyOf(priority, hall.hungrySince(place, priority), now, AGE_MS)
      const lastOf = (account: string) => hall.lastOf(place, priority, account)
      return new Ring({ place, priority, urgency }, hall.ring(place, priority), lastOf)
    }),
  )
  return [...rings, ...newcomers(hall, places, arrived, rings)]
}

/** Who comes back from having nothing takes turns with those who wait already. */
function newcomers(
  hall: Hall,
  places: readonly Place[],
  arrived: readonly string[],
  rings: readonly Ring[],
): readonly Ring[] {
  const flows = [...new Set(arrived)].map((name) => hall.flow(name)).filter(({ waitsAt }) => !isAmong(places, waitsAt))
  const byPriority = Map.groupBy(flows, ({ priority }) => priority)
  return [...byPriority].map(([priority, group]) => {
    const others = rings.filter((ring) => ring.priority === priority).map((ring) => ring.lowest())
    const lowest = lowestOf(others.filter((pass) => pass !== undefined))
    const last = new Map<string, number>()
    const joined = group.map((flow) => {
      const pass = joiningPass(flow, lowest, last.get(flow.account))
      last.set(flow.account, pass)
      return { ...flow, pass }
    })
    const inTurn = joined.sort((a, b) => a.pass - b.pass)
    return new Ring({ place: undefined, priority, urgency: priority }, inTurn, (account) => last.get(account))
  })
}

const isAmong = (places: readonly Place[], place: Place | undefined): boolean =>
  place !== undefined && places.includes(place)

function mostUrgent(rings: readonly Ring[]): Ring | undefined {
  let first: Ring | undefined
  let lowest = 0
  for (const ring of rings) {
    const pass = ring.lowest()
    if (pass === undefined) continue
    const before =
      first === undefined || ring.urgency < first.urgency || (ring.urgency === first.urgency && pass < lowest)
    if (!before) continue
    first = ring
    lowest = pass
  }
  return first
}

/** The jobs of a flow that this commit has not let in. */
interface Line {
  readonly rest: Iterator<Held>
  head: Held | undefined
}

/** What one commit has done so far. */
class Round {
  readonly admitted: Admission[] = []
  readonly #hall: Hall
  readonly #now: Time
  readonly #flows = new Map<string, Flow>()
  readonly #wakes = new Map<string, Time>()
  readonly #fed = new Map<string, { readonly place: Place; readonly priority: Priority }>()
  readonly #keys = new Map<string, Counted>()
  readonly #standing = new Map<string, number>()
  readonly #lines = new Map<string, Line>()
  /** The highest pass of each account at places that this commit has put somebody to wait at. */
  readonly #last = new Map<string, number>()

  constructor(hall: Hall, now: Time) {
    this.#hall = hall
    this.#now = now
  }

  /** The flow with its turn taken, where its first job was let in; else where it waits; undefined: it has nothing to wait for. */
  tryOne(ring: Ring): Flow | Place | undefined {
    const now = this.#now
    const flow = ring.take()
    const line = this.#line(flow.name)
    const { head } = line
    if (head === undefined) return this.leave({ ...flow, waitsAt: undefined, nextAt: undefined })
    if (head.readyAt > now) return this.leave({ ...flow, waitsAt: undefined, nextAt: head.readyAt })
    const place = this.#obstacle(flow)
    if (place !== undefined) {
      this.#wait(flow, place)
      return place
    }
    this.#admit(flow, head)
    line.head = drawnFrom(line.rest)
    // It has been looked at: whoever comes back for it later is told below.
    const next = { ...flow, pass: ring.passOf(flow), nextAt: undefined }
    this.#flows.set(next.name, next)
    return next
  }

  leave(flow: Flow): undefined {
    this.#flows.set(flow.name, flow)
    return undefined
  }

  feed({ place, priority }: Pick<Ring, 'place' | 'priority'>): void {
    if (place !== undefined) this.#fed.set(`${place} ${priority}`, { place, priority })
  }

  outcome(): Omit<LetIn, 'again'> {
    const { admitted } = this
    return { admitted, flows: [...this.#flows.values()], wakes: this.#wakes, fed: [...this.#fed.values()] }
  }

  #obstacle({ queue, lane, keys }: Flow): Place | undefined {
    if (this.#hall.isPaused(queue)) return atQueue(queue)
    for (const key of keys) {
      const { gate, count } = this.#key(key)
      const shortage = shortageOf(gate, count, this.#now)
      if (shortage === undefined) continue
      if (shortage.wakeAt !== undefined) this.#wakes.set(key, shortage.wakeAt)
      return atKey(key)
    }
    return this.#standingIn(lane) >= this.#hall.window ? atLane(lane) : undefined
  }

  #wait(flow: Flow, place: Place): void {
    if (place === flow.waitsAt) return this.leave({ ...flow, nextAt: undefined })
    const { priority, account } = flow
    const [lowest] = this.#hall.ring(place, priority)
    const line = JSON.stringify([place, priority, account])
    const last = this.#last.get(line) ?? this.#hall.lastOf(place, priority, account)
    const pass = joiningPass(flow, lowest?.pass, last)
    this.#last.set(line, pass)
    this.leave({ ...flow, waitsAt: place, nextAt: undefined, pass })
  }

  #admit({ name, lane, keys }: Flow, { job }: Held): void {
    for (const key of keys) {
      const { gate, count } = this.#key(key)
      this.#keys.set(key, { gate, count: oneMore(count) })
    }
    this.#standing.set(lane, this.#standingIn(lane) + 1)
    this.admitted.push({ job, flow: name, keys })
  }

  #key(name: string): Counted {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const counted = this.#hall.key(name)
    this.#keys.set(name, counted)
    return counted
  }

  #standingIn(lane: string): number {
    return this.#standing.get(lane) ?? this.#hall.standing(lane)
  }

  #line(name: string): Line {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const rest = this.#hall.held(name)[Symbol.iterator]()
    const line = { rest, head: drawnFrom(rest) }
    this.#lines.set(name, line)
    return line
  }
}
