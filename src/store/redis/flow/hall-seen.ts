/**
 * The hall as one look has seen it (`look.lua`): core draws from it whom to let in. What a look brings is cut off somewhere; where core
 * comes to such an end, that is noted, and somebody looks again.
 */
import { assert } from '../../../core/assert.ts'
import type { Gate } from '../../../core/flow/gate.ts'
import { type Flow, type Hall, type Held, LANE_WINDOW, type Place } from '../../../core/flow/hall.ts'
import { type Counted, type Slot, windowAt } from '../../../core/flow/slots.ts'
import type { Priority, Time } from '../../../core/job.ts'
import { list, pairs, type Reply, word, words } from '../connection/reply.ts'
import { idOf } from '../job/id-text.ts'
import { NONE } from '../job/job-text.ts'

export interface SeenFlow {
  readonly version: string
  readonly flow: Flow
  /** The lane's word, within its queue. */
  readonly laneWord: string
  readonly isPaused: boolean
  readonly standing: number
  readonly held: readonly Held[]
}

export interface SeenKey extends Counted {
  readonly version: string
  readonly wakeAt: Time | undefined
  /** The number of the budget's window that `count.spent` is of. */
  readonly window: number
  /** What was spent and is counted in it now. */
  readonly spends: readonly string[]
  /** Of a key that is looked at for its own sake: what stands, the newest first. */
  readonly standing: readonly Slot[]
}

/** A job that stands and may have to leave its lane: its queue is paused, or it stood for long in the way of others. */
export interface SeenStanding extends Slot {
  readonly why: 'paused' | 'stood'
  readonly flow: string
}

export class HallSeen implements Hall {
  readonly window = LANE_WINDOW
  readonly now: Time
  readonly arrivals: readonly (readonly [what: string, number: string])[]
  readonly places: readonly Place[]
  readonly arrived: readonly string[]
  readonly back: readonly SeenStanding[]
  /** Whose end core came to, and there is more of it. */
  readonly cutOff = { flows: new Set<string>(), places: new Set<Place>() }
  readonly #keys: ReadonlyMap<string, SeenKey>
  readonly #flows: ReadonlyMap<string, SeenFlow>
  readonly #rings = new Map<string, readonly string[]>()
  readonly #hungry = new Map<string, Time>()
  readonly #lowest = new Map<string, number>()
  readonly #standing = new Map<string, number>()
  readonly #paused = new Map<string, boolean>()
  readonly #ringMost: number
  readonly #heads: number

  constructor(answer: readonly Reply[]) {
    const [now, arrivals, places, arrived, rings, flows, keys, back, ringMost, heads] = answer
    this.now = Number(word(now))
    this.arrivals = pairs(words(arrivals))
    this.places = words(places) as readonly Place[]
    this.arrived = words(arrived)
    this.back = list(back).map(seenStanding)
    this.#ringMost = Number(word(ringMost))
    this.#heads = Number(word(heads))
    for (const ring of list(rings).map(words)) {
      const [place = '', priority = '', since, ...names] = ring
      this.#rings.set(`${priority} ${place}`, names)
      this.#hungry.set(`${priority} ${place}`, Number(since))
    }
    this.#flows = new Map(list(flows).map((row) => this.#withFlow(list(row))))
    this.#keys = new Map(list(keys).map((row) => seenKey(list(row), this.now)))
  }

  flow(name: string): Flow {
    return this.seen(name).flow
  }

  *ring(place: Place, priority: Priority): Iterable<Flow> {
    const names = this.#rings.get(ringName(place, priority))
    const lowest = this.#lowest.get(ringName(place, priority))
    if (names === undefined && lowest !== undefined) yield { ...SOMEBODY, waitsAt: place, priority, pass: lowest }
    for (const name of names ?? []) if (this.#flows.has(name)) yield this.flow(name)
    if (names?.length === this.#ringMost) this.cutOff.places.add(place)
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

  key(name: string): SeenKey {
    const key = this.#keys.get(name)
    assert(key !== undefined, `key ${name} was looked at`)
    return key
  }

  standing(lane: string): number {
    return this.#standing.get(lane) ?? 0
  }

  isPaused(queue: string): boolean {
    return this.#paused.get(queue) === true
  }

  seen(flow: string): SeenFlow {
    const seen = this.#flows.get(flow)
    assert(seen !== undefined, `flow ${flow} was looked at`)
    return seen
  }

  knows(flow: string): boolean {
    return this.#flows.has(flow)
  }

  #withFlow(row: readonly Reply[]): readonly [string, SeenFlow] {
    const texts = row.slice(0, 13).map(word)
    const [
      id = '',
      version = '',
      queue = '',
      laneWord = '',
      lane = '',
      priority,
      keys = '',
      pass,
      waits,
      next,
      weight,
    ] = texts
    const [isPaused, standing] = texts.slice(11)
    const flow: Flow = {
      name: id,
      queue,
      lane,
      priority: Number(priority) as Priority,
      keys: keys === '' ? [] : keys.split(' '),
      weight: Number(weight),
      pass: Number(pass),
      waitsAt: waits === '' ? undefined : (waits as Place),
      nextAt: timeIn(next ?? NONE),
    }
    for (const [place, lowest] of pairs(words(row[13]))) this.#lowest.set(`${priority} ${place}`, Number(lowest))
    this.#standing.set(lane, Number(standing))
    this.#paused.set(queue, isPaused === '1')
    const held = pairs(words(row[14])).map(([job, readyAt]) => ({ job: idOf(job), readyAt: Number(readyAt) }))
    return [id, { version, flow, laneWord, isPaused: isPaused === '1', standing: Number(standing), held }]
  }
}

function seenKey(row: readonly Reply[], now: Time): readonly [string, SeenKey] {
  const [id = '', version = '', gateText = '', spentBefore, spentIn, wake] = row.slice(0, 6).map(word)
  const gate = JSON.parse(gateText) as Gate
  const window = windowAt(gate, now)
  const spends = pairs(words(row[7]))
  const spent = spentWithin(gate, { spent: Number(spentBefore), window: Number(spentIn) }, spends, now)
  const standing = pairs(words(row[8])).map(([job, at]) => slotOf(job, at, NONE))
  const count = countIn(words(row[6]), spent)
  return [
    id,
    { version, gate, count, window, spends: spends.map(([spend]) => spend), standing, wakeAt: timeIn(wake ?? NONE) },
  ]
}

/** What is spent of the present window: what is summed up already, and what is not. */
export function spentWithin(
  gate: Gate,
  before: { readonly spent: number; readonly window: number },
  spends: readonly (readonly [spend: string, at: string])[],
  now: Time,
): number {
  const window = windowAt(gate, now)
  return spends
    .filter(([, at]) => windowAt(gate, Number(at)) === window)
    .reduce((sum, [spend]) => sum + Number(spend.split(':')[0]), before.window === window ? before.spent : 0)
}

export function countIn(texts: readonly string[], spent: number): Counted['count'] {
  const [taken, takenSince, started, oldest] = texts
  return {
    taken: Number(taken),
    takenSince: Number(takenSince),
    started: Number(started),
    oldestStart: timeIn(oldest ?? NONE),
    spent,
  }
}

export const slotOf = (job: string, letInAt: string, claimedAt: string): Slot => ({
  job: idOf(job),
  letInAt: Number(letInAt),
  claimedAt: timeIn(claimedAt),
})

function seenStanding(row: Reply): SeenStanding {
  const [job = '', why, flow = '', letInAt = ''] = words(row)
  return { ...slotOf(job, letInAt, NONE), why: why === 'paused' ? 'paused' : 'stood', flow }
}

const timeIn = (text: string): Time | undefined => (text === NONE ? undefined : Number(text))

/** Who waits first at a place that was not looked at: of it nothing is known but its pass. */
const SOMEBODY = { name: '', queue: '', lane: '', keys: [], weight: 1, nextAt: undefined }

const PRIORITIES: readonly Priority[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const ringName = (place: Place, priority: Priority): string => `${priority} ${place}`
