/**
 * Jobs, two keys, five flows, three lanes: a store in a few lines, which does in one commit what a store must, and asks the core
 * whom to let in. What stores get wrong is theirs to be tested for; here it is what the core tells them.
 */
import type { Flow, Hall, Held, Place } from '../../../src/core/flow/hall.ts'
import { atKey, atLane, atQueue } from '../../../src/core/flow/hall.ts'
import { atRest, type KeyRecord, type Limit } from '../../../src/core/flow/key.ts'
import type { KeyInput } from '../../../src/core/flow/signal.ts'
import type { Counted, KeyUse, Slot } from '../../../src/core/flow/slots.ts'
import type { Priority } from '../../../src/core/job.ts'
import { must } from '../breach.ts'
import type { FlowCore } from './flow-core.ts'

export interface HallJob {
  readonly id: string
  flow: string
  readyAt: number
  /** The model's own books: since when it waits, which being let in and taken back does not change. */
  since: number
  place: 'held' | 'standing' | 'owned' | 'aside' | 'ended'
  letInAt: number
  claimedAt: number
}

export interface HallKey {
  record: KeyRecord
  limit: Limit
  use: KeyUse
  wakeAt: number | undefined
  /** Every claim there ever was, and what its rate has been: the model's own books. */
  readonly claims: number[]
  readonly rates: { readonly at: number; readonly rate: Limit['rate'] }[]
}

export const KEY_NAMES = ['a', 'b'] as const
export const WINDOW = 2

export class HallWorld implements Hall {
  readonly window = WINDOW
  readonly jobs = new Map<string, HallJob>()
  readonly keys = new Map<string, HallKey>()
  readonly flows = new Map<string, Flow>()
  readonly arrivals = new Set<string>()
  readonly paused = new Set<string>()
  readonly #core: FlowCore
  /** No stranger writes to the store, so that whoever arrives is looked at by the commit that brings it. */
  readonly #isAlone: boolean
  readonly #hungry = new Map<string, number>()
  now = 1_000_000
  #made = 0

  constructor(core: FlowCore, isAlone = false, flows: readonly WorldFlow[] = FLOWS) {
    this.#core = core
    this.#isAlone = isAlone
    for (const name of KEY_NAMES) {
      const record = atRest(name)
      const use = { gate: core.gateOf(record, {}), slots: [], paces: [], spent: 0, window: 0 }
      this.keys.set(name, { record, limit: {}, use, wakeAt: undefined, claims: [], rates: [] })
    }
    for (const [name, queue, priority, keys, weight, account = name] of flows)
      this.flows.set(name, {
        name,
        queue,
        lane: `${queue} ${priority}`,
        priority,
        keys,
        account,
        weight,
        pass: 0,
        waitsAt: undefined,
        nextAt: undefined,
      })
  }

  flow(name: string): Flow {
    return this.flows.get(name) as Flow
  }

  ring(place: Place, priority: Priority): readonly Flow[] {
    const there = [...this.flows.values()].filter((flow) => flow.waitsAt === place && flow.priority === priority)
    return there.sort((a, b) => a.pass - b.pass)
  }

  lastOf(place: Place, priority: Priority, account: string): number | undefined {
    const passes = this.ring(place, priority).filter((flow) => flow.account === account)
    return passes.at(-1)?.pass
  }

  prioritiesAt(place: Place): readonly Priority[] {
    const there = [...this.flows.values()].filter(({ waitsAt }) => waitsAt === place)
    return [...new Set(there.map(({ priority }) => priority))].sort((a, b) => a - b)
  }

  hungrySince(place: Place, priority: Priority): number {
    return this.#hungry.get(`${place} ${priority}`) ?? this.now
  }

  held(flow: string): readonly Held[] {
    return this.#in('held')
      .filter((job) => job.flow === flow)
      .sort(byPlace)
      .map(({ id, readyAt }) => ({ job: id, readyAt }))
  }

  key(name: string): Counted {
    const { use } = this.#key(name)
    return { gate: use.gate, count: this.#core.countOf(use, this.now) }
  }

  standing(lane: string): number {
    return this.#in('standing').filter(({ flow }) => this.flow(flow).lane === lane).length
  }

  isPaused(queue: string): boolean {
    return this.paused.has(queue)
  }

  // What happens to jobs, each a commit.

  insert(flow: string, delayMs: number): void {
    this.#made += 1
    const id = `pj_${String(this.#made).padStart(6, '0')}`
    const readyAt = this.now + delayMs
    this.jobs.set(id, { id, flow, readyAt, since: readyAt, place: 'held', letInAt: 0, claimedAt: 0 })
    this.#arrive(flow)
  }

  nudge(): void {
    const arrived = [...this.arrivals]
    this.arrivals.clear()
    this.#look([], arrived)
  }

  /** The ticker: the truth, where nudges are lost. */
  due(): void {
    const freed: Place[] = []
    const stood = this.#in('standing').sort((a, b) => a.letInAt - b.letInAt || (a.id < b.id ? -1 : 1))
    for (const { id, flow, letInAt } of stood) {
      const slot = { job: id, letInAt, claimedAt: undefined }
      if (this.#core.isOutOfPatience(slot, this.now) && this.flow(flow).keys.some((key) => this.#isInTheWay(slot, key)))
        freed.push(...this.#giveWay(slot))
    }
    const flows = [...this.flows.values()]
    const due = flows.filter(({ nextAt }) => (nextAt ?? Infinity) <= this.now).sort(byTime(({ nextAt }) => nextAt))
    const arrived = [...this.arrivals, ...due.map(({ name }) => name)]
    this.arrivals.clear()
    const wakeAt = ([, key]: readonly [string, HallKey]) => key.wakeAt
    const woken = [...this.keys].filter((key) => (wakeAt(key) ?? Infinity) <= this.now).sort(byTime(wakeAt))
    const awake = woken.map(([name]) => name)
    for (const name of awake) this.#key(name).wakeAt = undefined
    const always = this.#core.habits.always(
      flows.map(({ lane }): Place => atLane(lane)),
      flows.map(({ queue }): Place => atQueue(queue)),
    )
    this.#look([...freed, ...awake.map(atKey), ...always], arrived)
  }

  claim(lane: string): void {
    const [first] = this.#in('standing')
      .filter(({ flow }) => this.flow(flow).lane === lane && !this.paused.has(this.flow(flow).queue))
      .sort((a, b) => a.letInAt - b.letInAt || (a.id < b.id ? -1 : 1))
    if (first === undefined) return
    first.place = 'owned'
    first.claimedAt = this.now
    for (const name of this.flow(first.flow).keys) {
      const key = this.#key(name)
      key.use = this.#core.withClaim(key.use, first.id, this.now)
      key.claims.push(this.now)
    }
    if (this.#isAlone) this.#look([atLane(lane)], [])
  }

  /** The end of an attempt, with what it says about its key; `then`: what becomes of the job. */
  end(id: string, signal: KeyInput['type'] | undefined, then: 'ended' | 'aside' | 'again', retryAfterMs = 0): void {
    const job = this.#job(id)
    const [first] = this.flow(job.flow).keys
    const hears = signal !== undefined && first !== undefined && job.place === 'owned'
    if (hears) {
      const cause = { job: id, attempt: 1, code: 'E', actor: 'w', requestId: 'r' }
      this.#hear(first, { type: signal, claimedAt: job.claimedAt, cause, retryAfterMs } as KeyInput)
    }
    const { vacates, lookedAtByCancel } = this.#core.habits
    const freed = job.place === 'held' || !vacates(then) ? [] : this.#free(job)
    const places = job.place === 'standing' ? lookedAtByCancel(freed) : freed
    job.place = then === 'again' ? 'held' : then
    if (then === 'again') {
      job.readyAt = this.now + retryAfterMs
      job.since = job.readyAt
      this.#come(job.flow)
    }
    this.#look(hears ? [...places, ...this.#shut(first)] : places, [])
  }

  resume(id: string): void {
    const job = this.#job(id)
    job.place = 'held'
    job.readyAt = this.now
    job.since = this.now
    this.#arrive(job.flow)
  }

  /**
   * A job that nobody owns is another flow's from now on, or ready at another time: its priority was changed, a duplicate has replaced
   * its input, or has put it off. What stood of it is free.
   */
  move(id: string, flow: string, delayMs: number): void {
    const job = this.#job(id)
    const places = job.place === 'standing' ? this.#free(job) : []
    job.place = 'held'
    job.flow = flow
    job.readyAt = this.now + delayMs
    job.since = job.readyAt
    this.#come(flow)
    this.#look(places, [])
  }

  /** A word of an operator about a key. */
  operate(name: string, type: 'reset' | 'probe'): void {
    this.#hear(name, {
      type,
      cause: { job: undefined, attempt: undefined, code: undefined, actor: 'o', requestId: 'r' },
    })
    this.#look(this.#shut(name), [])
  }

  /** Another that goes on from here by itself. */
  copy(): HallWorld {
    const other = new HallWorld(this.#core, this.#isAlone)
    for (const [id, job] of this.jobs) other.jobs.set(id, { ...job })
    for (const [name, key] of this.keys)
      other.keys.set(name, { ...key, claims: [...key.claims], rates: [...key.rates] })
    for (const [name, flow] of this.flows) other.flows.set(name, flow)
    for (const name of this.arrivals) other.arrivals.add(name)
    for (const queue of this.paused) other.paused.add(queue)
    for (const [ring, at] of this.#hungry) other.#hungry.set(ring, at)
    other.now = this.now
    other.#made = this.#made
    return other
  }

  set(name: string, limit: Limit): void {
    const key = this.#key(name)
    key.limit = limit
    key.rates.push({ at: this.now, rate: limit.rate })
    const cause = { job: undefined, attempt: undefined, code: undefined, actor: 'o', requestId: 'r' }
    this.#hear(name, { type: 'set', cause })
    this.#look(this.#shut(name), [])
  }

  spend(name: string, amount: number): void {
    const key = this.#key(name)
    key.use = this.#core.withSpent(key.use, amount, this.now)
    this.#look(this.#shut(name), [])
  }

  pause(queue: string): void {
    this.paused.add(queue)
    const standing = this.#in('standing').filter(({ flow }) => this.flow(flow).queue === queue)
    this.#look(
      this.#core.habits.takenBackByPause(standing).flatMap(({ id }) => this.#back(id)),
      [],
    )
  }

  unpause(queue: string): void {
    this.paused.delete(queue)
    this.#look(this.#core.habits.lookedAtByResume(atQueue(queue)), [])
  }

  /** Whoever waits somewhere is found there; in a store that strangers write to, nobody can know that when it comes. */
  #come(flow: string): void {
    const arrived = !this.#isAlone || this.flow(flow).waitsAt === undefined
    if (this.#core.habits.noted(arrived)) this.arrivals.add(flow)
  }

  #arrive(flow: string): void {
    this.#come(flow)
    if (this.#isAlone) this.#look([], [])
  }

  #hear(name: string, input: KeyInput): void {
    const key = this.#key(name)
    key.record = this.#core.decideKey(
      key.record,
      input,
      { limit: key.limit, taken: key.use.slots.length },
      this.now,
    ).key
    key.use = { ...key.use, gate: this.#core.gateOf(key.record, key.limit) }
  }

  /** A key that changed: takes back what may not stand any more. The places to look at. */
  #shut(name: string): readonly Place[] {
    const back = this.#core.takenBack(this.key(name), this.#standing(this.#key(name)), this.now)
    return [atKey(name), ...back.flatMap((id) => this.#back(id))]
  }

  #standing({ use }: HallKey): readonly Slot[] {
    return use.slots.filter(this.#core.isStanding).sort(this.#core.newestFirst)
  }

  #back(id: string): readonly Place[] {
    const job = this.#job(id)
    const places = this.#free(job)
    job.place = 'held'
    job.readyAt = this.#core.habits.placeOnReturn(job.readyAt, this.now)
    this.#come(job.flow)
    return places
  }

  /** Another flow waits for what it holds. */
  #isInTheWay({ job }: Slot, key: string): boolean {
    const { flow } = this.#job(job)
    return [...this.flows.values()].some(({ name, waitsAt }) => waitsAt === atKey(key) && name !== flow)
  }

  #giveWay({ job }: Slot): readonly Place[] {
    const { flow } = this.#job(job)
    const places = this.#back(job)
    this.arrivals.delete(flow)
    this.flows.set(flow, this.#core.afterGivingWay(this.flow(flow), this.now))
    return places
  }

  #free({ id, flow: name }: HallJob): readonly Place[] {
    const flow = this.flow(name)
    for (const key of flow.keys) {
      const here = this.#key(key)
      here.use = this.#core.withoutSlot(here.use, id, this.now)
    }
    return [atLane(flow.lane), ...flow.keys.map(atKey)]
  }

  #look(places: readonly Place[], arrived: readonly string[]): void {
    const all = this.#isAlone ? [...this.arrivals, ...arrived] : arrived
    if (this.#isAlone) this.arrivals.clear()
    const { admitted, flows, wakes, fed, again } = this.#core.letIn(this, [...places].sort(), all, this.now)
    for (const flow of flows) {
      if (flow.waitsAt !== undefined && flow.waitsAt !== this.flow(flow.name).waitsAt)
        if (this.ring(flow.waitsAt, flow.priority).length === 0)
          this.#hungry.set(`${flow.waitsAt} ${flow.priority}`, this.now)
      this.flows.set(flow.name, flow)
    }
    for (const { job: id, flow, keys } of admitted) {
      const [head] = this.#in('held')
        .filter((job) => job.flow === flow)
        .sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1))
      must(head?.id === id, 'F12', `${id} of ${flow} overtook ${head?.id}`)
      this.#job(id).place = 'standing'
      this.#job(id).letInAt = this.now
      for (const key of keys) {
        const here = this.#key(key)
        here.use = { ...here.use, slots: [...here.use.slots, { job: id, letInAt: this.now, claimedAt: undefined }] }
      }
    }
    for (const [name, at] of wakes) this.#wake(name, at)
    for (const { place, priority } of fed) this.#hungry.set(`${place} ${priority}`, this.now)
    for (const place of again) if (place.startsWith('key ')) this.#wake(place.slice(4), this.now)
  }

  #wake(name: string, at: number): void {
    const key = this.#key(name)
    key.wakeAt = Math.min(key.wakeAt ?? Infinity, at)
  }

  #in(place: HallJob['place']): HallJob[] {
    return [...this.jobs.values()].filter((job) => job.place === place)
  }

  #key(name: string): HallKey {
    return this.keys.get(name) as HallKey
  }

  #job(id: string): HallJob {
    return this.jobs.get(id) as HallJob
  }
}

export type WorldFlow = readonly [
  name: string,
  queue: string,
  priority: Priority,
  keys: readonly string[],
  weight: number,
  account?: string,
]

const FLOWS: readonly WorldFlow[] = [
  ['ab', 'p', 5, ['a', 'b'], 1],
  ['ba', 'q', 5, ['b', 'a'], 1],
  ['b', 'p', 5, ['b'], 2],
  ['urgent', 'p', 0, ['a'], 1],
  ['fair', 'q', 5, [], 1],
]

export const LANES = ['p 5', 'q 5', 'p 0'] as const

/** Those that are due in the order of their times. */
const byTime =
  <T>(at: (one: T) => number | undefined) =>
  (a: T, b: T): number =>
    (at(a) ?? 0) - (at(b) ?? 0)

export const byPlace = (a: HallJob, b: HallJob): number => a.readyAt - b.readyAt || (a.id < b.id ? -1 : 1)
