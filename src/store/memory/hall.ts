/**
 * Where jobs with a flow are: held, standing in a let-in lane, or owned; and what is taken of their keys. Whom to let in, and whom
 * to take back, is core's to say; this is what it looks at, and where its answer is written down.
 *
 * Invariant: a job has a slot of each of its keys exactly while it stands or is owned. A flow is kept while it holds a job;
 * what was freed, changed or has come is in `#places` or `#arrived` until `look`, which every call of the store ends with.
 */
import { assert } from '../../core/assert.ts'
import type { Spend } from '../../core/command.ts'
import { gateOf } from '../../core/flow/gate.ts'
import {
  atKey,
  atLane,
  atQueue,
  type Flow,
  type Hall,
  type Held,
  LANE_WINDOW,
  type Place,
} from '../../core/flow/hall.ts'
import { atRest } from '../../core/flow/key.ts'
import { type LetIn, letIn } from '../../core/flow/let-in.ts'
import { placeMoveOf, toldKey } from '../../core/flow/membership.ts'
import type { Counted } from '../../core/flow/slots.ts'
import { afterGivingWay, isOutOfPatience, takenBack } from '../../core/flow/take-back.ts'
import type { Watch } from '../../core/flow/watch.ts'
import type { Job, JobId, Priority, Time } from '../../core/job.ts'
import type { ClaimedJob, KeyBirth, KeyMove, KeyView, Lobby, Mend } from '../store.ts'
import { Agenda } from './agenda.ts'
import { KeyShelf } from './flow-key.ts'
import { Flows, keyId, whereaboutsOf } from './flows.ts'
import { keep } from './keep.ts'
import { Lanes } from './lanes.ts'
import { mendSlots, type Spot, watchAtKey } from './spot.ts'

export interface HallParts {
  readonly job: (id: JobId) => Job
  readonly isPaused: (queue: string) => boolean
}

export class MemoryHall implements Hall {
  readonly window = LANE_WINDOW
  /** Jobs that were let in and that nobody has claimed. */
  readonly lanes = new Lanes()
  /** The time of the call that is being answered. */
  now: Time = 0
  readonly #parts: HallParts
  readonly #keys = new Map<string, KeyShelf>()
  readonly #flows = new Flows()
  readonly #spots = new Map<JobId, Spot>()
  /** Keys that are to be looked at though nobody frees anything. */
  readonly #wakes = new Agenda()
  /** Jobs that stand, by when they were let in; and how many of each lane. */
  readonly #standing = new Agenda()
  readonly #inLane = new Map<string, number>()
  readonly #places = new Set<Place>()
  readonly #arrived = new Set<string>()
  #letIn = 0

  constructor(parts: HallParts) {
    this.#parts = parts
  }

  // What letting in looks at.

  flow(name: string): Flow {
    const shelf = this.#flows.get(name)
    return { ...shelf.flow, weight: this.#keys.get(shelf.flow.account)?.gate.weight ?? 1 }
  }

  *ring(place: Place, priority: Priority): Generator<Flow> {
    for (const name of this.#flows.rings.at(place, priority)) yield this.flow(name)
  }

  lastOf(place: Place, priority: Priority, account: string): number | undefined {
    return this.#flows.rings.lastOf(place, priority, account)
  }

  prioritiesAt(place: Place): readonly Priority[] {
    return this.#flows.rings.prioritiesAt(place)
  }

  hungrySince(place: Place, priority: Priority): Time {
    return this.#flows.rings.hungrySince(place, priority) ?? this.now
  }

  *held(flow: string): Generator<Held> {
    for (const { name, at } of this.#flows.get(flow).held.ordered()) yield { job: name, readyAt: at }
  }

  key(name: string): Counted {
    return this.#key(name).counted(this.now)
  }

  standing(lane: string): number {
    return this.#inLane.get(lane) ?? 0
  }

  isPaused(queue: string): boolean {
    return this.#parts.isPaused(queue)
  }

  // What happens to keys.

  /** Keys that nobody has heard of come into being. */
  declare(tenant: string, births: readonly KeyBirth[]): void {
    for (const birth of births) {
      const id = keyId(tenant, birth.key)
      const there = this.#keys.get(id)
      if (there === undefined) this.#keys.set(id, new KeyShelf(tenant, keep({ ...birth, log: undefined })))
      else if (there.rev === 0) {
        there.change(keep(birth))
        this.#shut(id)
      }
    }
  }

  /** Whether a key is still where somebody thinks it is, and can go where they want it. */
  mayMove(tenant: string, { key, rev, on, next }: KeyMove): boolean {
    const id = keyId(tenant, key)
    const shelf = this.#keys.get(id)
    if ((shelf?.rev ?? 0) !== rev || (on !== undefined && shelf?.text !== on)) return false
    return next !== 'forgotten' || (shelf?.taken === 0 && !this.#flows.name(id))
  }

  move(tenant: string, { key, next }: KeyMove): void {
    if (next === 'same') return
    const id = keyId(tenant, key)
    if (next === 'forgotten') {
      this.#keys.delete(id)
      this.#wakes.remove(id)
      return
    }
    const shelf = this.#keys.get(id)
    if (shelf === undefined) this.#keys.set(id, new KeyShelf(tenant, keep({ key, log: undefined, ...next })))
    else shelf.change(keep(next))
    this.#shut(id)
  }

  spend({ spec }: Job, { amount, key }: Spend): void {
    const { keys = [] } = spec.flow ?? {}
    for (const name of key === undefined ? keys : [key]) {
      const id = keyId(spec.kind.tenant, name)
      this.#keys.get(id)?.spend(amount, this.now)
      this.#shut(id)
    }
  }

  /** Slots are those of jobs that stand or are owned, and every flow of those named is looked at. */
  mend(mend: Mend): void {
    for (const id of mendSlots(this.#keys, this.#spots, mend, this.now)) this.#shut(id)
    for (const shelf of mend.held.map((job) => this.#flows.find(whereaboutsOf(job).flow))) {
      if (shelf === undefined) continue
      this.#flows.set(shelf, { ...shelf.flow, waitsAt: undefined, nextAt: undefined }, this.now)
      this.#arrived.add(shelf.flow.name)
    }
  }

  /** A queue was paused: nothing of it stands any more; or it goes on. */
  paused(queue: string): void {
    if (!this.isPaused(queue)) this.#places.add(atQueue(queue))
    else
      for (const { name } of [...this.#standing.ordered()]) if (this.#spots.get(name)?.queue === queue) this.#back(name)
  }

  // What happens to jobs.

  /** The record of a job with a flow has changed: its place follows. Undefined: it was not there before, or is gone. */
  placed(before: Job | undefined, after: Job | undefined, number: number): void {
    const job = after ?? before
    assert(job !== undefined, 'a job comes or goes')
    switch (placeMoveOf(before, after)) {
      case 'stay':
        return
      case 'leave':
        return this.#leave(job.id)
      case 'hold':
        this.#leave(job.id)
        return this.#hold(job, number)
      case 'own':
        return this.#own(job, number)
    }
  }

  /** Lets in who can be where something was freed, changed or has come. Answers with those that were. */
  look(): readonly Job[] {
    if (this.#places.size === 0 && this.#arrived.size === 0) return NOBODY
    const places = [...this.#places]
    const arrived = [...this.#arrived].filter((name) => this.#flows.has(name))
    this.#places.clear()
    this.#arrived.clear()
    return this.#written(letIn(this, places, arrived, this.now))
  }

  /** Whatever nobody hinted at: what has come due, what was left, and what stood in the way of others for too long. */
  due(): readonly Job[] {
    for (const { name, at } of [...this.#standing.ordered()]) {
      if (!isOutOfPatience({ job: name, letInAt: at, claimedAt: undefined }, this.now)) break
      if (this.#isInTheWay(name)) this.#giveWay(name)
    }
    for (let next = this.#wakes.first(); next !== undefined && next.at <= this.now; next = this.#wakes.first()) {
      this.#wakes.remove(next.name)
      this.#places.add(atKey(next.name))
    }
    for (
      let next = this.#flows.nexts.first();
      next !== undefined && next.at <= this.now;
      next = this.#flows.nexts.first()
    ) {
      this.#flows.nexts.remove(next.name)
      this.#arrived.add(next.name)
    }
    for (const place of this.#flows.rings.places()) if (place.startsWith('lane ')) this.#places.add(place)
    return this.look()
  }

  /** Not all was let in that could be. */
  get more(): boolean {
    return this.#places.size > 0 || (this.#flows.nexts.first()?.at ?? Number.POSITIVE_INFINITY) <= this.now
  }

  // What is told.

  /** The key that hears how an attempt of this job ends. */
  told({ spec }: Job): ClaimedJob['flow'] {
    const key = spec.flow === undefined ? undefined : toldKey(spec)
    if (key === undefined) return undefined
    const { text, rev } = this.#key(keyId(spec.kind.tenant, key)).document()
    return { key, text, rev }
  }

  lobby({ id, spec }: Job): Lobby | undefined {
    if (spec.flow === undefined) return undefined
    const spot = this.#spots.get(id)
    const keys = spec.flow.keys.map((key) => this.view(spec.kind.tenant, key))
    const place = spot === undefined ? undefined : atLane(spot.lane)
    const own = spot !== undefined && this.#flows.find(spot.flow)?.flow.waitsAt === place
    const others = place === undefined ? 0 : this.#flows.rings.sizeAt(place) - (own ? 1 : 0)
    const watch = spot?.at === 'held' ? this.#watchOf(spot) : undefined
    return { held: spot?.at === 'held', keys: keys.filter((each) => each !== undefined), others, watch }
  }

  #watchOf(spot: Spot): Watch | undefined {
    const { waitsAt, nextAt } = this.#flows.get(spot.flow).flow
    if (nextAt !== undefined) return { by: 'time', at: nextAt }
    if (waitsAt?.startsWith('lane ')) return { by: 'lane' }
    if (waitsAt === atQueue(spot.queue)) return { by: 'queue', isPaused: this.isPaused(spot.queue) }
    return watchAtKey(spot, waitsAt, this.#keys, (id) => this.#wakes.at(id))
  }

  view(tenant: string, key: string): KeyView | undefined {
    const id = keyId(tenant, key)
    const shelf = this.#keys.get(id)
    return shelf === undefined || shelf.rev === 0 ? undefined : shelf.view(this.#flows.heldAt(atKey(id)), this.now)
  }

  /** Names of a tenant's keys, in order. */
  names(tenant: string): readonly string[] {
    const all = [...this.#keys.values()].map((shelf) => shelf.document())
    return all
      .filter((each) => each.tenant === tenant)
      .map(({ key }) => key)
      .sort()
  }

  /** How many stand or are owned under a key, from where the jobs are. */
  recount(tenant: string, key: string): number {
    const id = keyId(tenant, key)
    return [...this.#spots.values()].filter(({ at, keys }) => at !== 'held' && keys.includes(id)).length
  }

  // Moves from place to place.

  #hold(job: Job, number: number): void {
    assert(job.readyAt !== undefined, `${job.id} can be ready`)
    this.#name(job)
    const shelf = this.#flows.of(job)
    shelf.held.set(job.id, job.readyAt, number)
    this.#spots.set(job.id, { ...whereaboutsOf(job), number, at: 'held' })
    // A flow that waits somewhere is found there.
    if (shelf.flow.waitsAt === undefined) this.#arrived.add(shelf.flow.name)
  }

  /** Its keys, where they were forgotten while it waited elsewhere: they count slots, and limit nothing before somebody says so. */
  #name({ spec }: Job): void {
    const { tenant } = spec.kind
    for (const key of spec.flow?.keys ?? []) {
      const id = keyId(tenant, key)
      if (!this.#keys.has(id)) this.#keys.set(id, new KeyShelf(tenant, { ...UNSAID, key, log: undefined }, 0))
    }
  }

  #own(job: Job, number: number): void {
    this.#name(job)
    const spot = this.#spots.get(job.id) ?? ({ ...whereaboutsOf(job), number, at: 'owned' } as const)
    if (spot.at === 'held') this.#unhold(spot, job.id)
    else this.#outOfLane(spot, job)
    for (const key of spot.keys) this.#key(key).take(job.id, this.now, job.lease?.grantedAt ?? this.now)
    this.#spots.set(job.id, { ...spot, at: 'owned' })
  }

  #leave(id: JobId): void {
    const spot = this.#spots.get(id)
    if (spot === undefined) return
    this.#spots.delete(id)
    if (spot.at === 'held') return this.#unhold(spot, id)
    if (spot.at === 'standing') this.#outOfLane(spot, this.#parts.job(id))
    for (const key of spot.keys) {
      this.#key(key).free(id, this.now)
      this.#places.add(atKey(key))
    }
  }

  /** Back to where it was held, with its place kept. */
  #back(id: JobId): void {
    const { number } = this.#spots.get(id) as Spot
    this.#leave(id)
    this.#hold(this.#parts.job(id), number)
  }

  #giveWay(id: JobId): void {
    const { flow } = this.#spots.get(id) as Spot
    this.#back(id)
    this.#arrived.delete(flow)
    const shelf = this.#flows.get(flow)
    this.#flows.set(shelf, afterGivingWay(shelf.flow, this.now), this.now)
  }

  #isInTheWay(id: JobId): boolean {
    const { keys, flow } = this.#spots.get(id) as Spot
    return keys.some(
      (key) => this.#flows.rings.sizeAt(atKey(key)) > (this.#flows.find(flow)?.flow.waitsAt === atKey(key) ? 1 : 0),
    )
  }

  #outOfLane({ lane, at }: Spot, job: Job): void {
    if (at !== 'standing') return
    this.lanes.leave(job)
    this.#standing.remove(job.id)
    const left = this.standing(lane) - 1
    if (left > 0) this.#inLane.set(lane, left)
    else this.#inLane.delete(lane)
    if (this.#flows.rings.has(atLane(lane))) this.#places.add(atLane(lane))
  }

  #unhold({ flow }: Spot, id: JobId): void {
    const shelf = this.#flows.get(flow)
    shelf.held.remove(id)
    if (shelf.held.size === 0) this.#flows.rest(shelf)
  }

  /** Takes back what may not stand under the key any more. */
  #shut(id: string): void {
    const shelf = this.#keys.get(id)
    if (shelf === undefined) return
    this.#places.add(atKey(id))
    for (const job of takenBack(shelf.counted(this.now), shelf.standing(), this.now)) this.#back(job)
  }

  // Letting in, written down.

  #written({ admitted, flows, wakes, fed, again }: LetIn): readonly Job[] {
    for (const { weight: _, ...flow } of flows) this.#flows.set(this.#flows.get(flow.name), flow, this.now)
    const jobs = admitted.map(({ job, flow, keys }) => this.#enterLane(job, flow, keys))
    for (const [key, at] of wakes) this.#wake(key, at)
    for (const { place, priority } of fed) this.#flows.rings.fed(place, priority, this.now)
    for (const place of again) this.#places.add(place)
    return jobs
  }

  #enterLane(id: JobId, flow: string, keys: readonly string[]): Job {
    const spot = this.#spots.get(id)
    assert(spot?.at === 'held' && spot.flow === flow, `${id} is held when it is let in`)
    const job = this.#parts.job(id)
    this.#unhold(spot, id)
    this.#spots.set(id, { ...spot, at: 'standing' })
    for (const key of keys) this.#key(key).take(id, this.now, undefined)
    // In the order of letting in: by their own times, a flow with few jobs would stand behind one with many for ever.
    this.#letIn += 1
    this.lanes.enter(job, this.now, this.#letIn)
    this.#standing.set(id, this.now, spot.number)
    this.#inLane.set(spot.lane, this.standing(spot.lane) + 1)
    return job
  }

  #wake(key: string, at: Time): void {
    const before = this.#wakes.at(key) ?? Number.POSITIVE_INFINITY
    this.#wakes.set(key, Math.min(before, at), 0)
  }

  #key(id: string): KeyShelf {
    const shelf = this.#keys.get(id)
    assert(shelf !== undefined, `the key ${id} was declared with the first job that names it`)
    return shelf
  }
}

const NOBODY: readonly Job[] = []

const UNSAID = { gate: gateOf(atRest(''), {}), text: '' } as const
