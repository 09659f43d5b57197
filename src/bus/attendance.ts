/**
 * Who is there, in which squad, and with how much room, as far as it has been heard. Bounded, since anybody on a bus may make up names: a
 * tenant has so many workers, and so many lanes that are looked at for them.
 */
import { EVERY_PRIORITY } from '../core/job.ts'
import type { Caps, RefusingCap } from '../gateway/caps.ts'
import type { Heartbeat } from './messages.ts'
import { nameOf, type Squad, squadOf } from './squad.ts'

interface Member {
  free: number
  heardMs: number
}

interface Present {
  readonly squad: Squad
  readonly members: Map<string, Member>
}

export type Heard =
  | { readonly ok: true; readonly squad: Squad; readonly name: string }
  | { readonly ok: false; readonly cap: Extract<RefusingCap, 'workersPerTenant' | 'lanesPerToken'> }

/** A worker that has been silent for this long has no room: it may be gone. */
export const SILENT_MS = 15_000

export class Attendance {
  readonly #squads = new Map<string, Present>()
  /** Which squad each worker is in. */
  readonly #workers = new Map<string, string>()
  readonly #caps: Pick<Caps, 'workersPerTenant' | 'lanesPerToken'>
  readonly #monotonicMs: () => number
  #lanes = 0
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(caps: Pick<Caps, 'workersPerTenant' | 'lanesPerToken'>, monotonicMs: () => number) {
    this.#caps = caps
    this.#monotonicMs = monotonicMs
  }

  heard(said: Pick<Heartbeat, 'worker_id' | 'pool' | 'topics' | 'capabilities' | 'free'>): Heard {
    const squad = squadOf(said)
    const name = nameOf(squad)
    const before = this.#workers.get(said.worker_id)
    if (before !== name) {
      this.#sweep()
      const cap = this.#fullFor(squad, name, before !== undefined)
      if (cap !== undefined) return { ok: false, cap }
      this.#leave(said.worker_id)
      this.#enter(squad, name)
    }
    this.#workers.set(said.worker_id, name)
    const member = { free: said.free, heardMs: this.#monotonicMs() }
    this.#squads.get(name)?.members.set(said.worker_id, member)
    return { ok: true, squad, name }
  }

  /** It has one place less, until it says otherwise. */
  began(workerId: string): void {
    const member = this.#squads.get(this.#workers.get(workerId) ?? '')?.members.get(workerId)
    if (member !== undefined && member.free > 0) member.free -= 1
  }

  /** Jobs that the workers of a squad could begin. Undefined: nobody is there. */
  freeIn(name: string): number | undefined {
    const present = this.#squads.get(name)
    if (present === undefined) return undefined
    this.#sweepOf(present)
    return present.members.size === 0
      ? undefined
      : [...present.members.values()].reduce((sum, { free }) => sum + free, 0)
  }

  #fullFor(squad: Squad, name: string, isKnown: boolean): Extract<Heard, { ok: false }>['cap'] | undefined {
    if (!isKnown && this.#workers.size >= this.#caps.workersPerTenant) return 'workersPerTenant'
    const more = this.#squads.has(name) ? 0 : lanesOf(squad)
    return this.#lanes + more > this.#caps.lanesPerToken ? 'lanesPerToken' : undefined
  }

  #enter(squad: Squad, name: string): void {
    if (this.#squads.has(name)) return
    this.#squads.set(name, { squad, members: new Map() })
    this.#lanes += lanesOf(squad)
  }

  #leave(workerId: string): void {
    const name = this.#workers.get(workerId)
    const present = this.#squads.get(name ?? '')
    this.#workers.delete(workerId)
    present?.members.delete(workerId)
    if (name === undefined || present === undefined || present.members.size > 0) return
    this.#squads.delete(name)
    this.#lanes -= lanesOf(present.squad)
  }

  /** At most once a second: who makes up names would have all of them looked at for each. */
  #sweep(): void {
    const nowMs = this.#monotonicMs()
    if (nowMs - this.#sweptMs < SWEEP_MS) return
    this.#sweptMs = nowMs
    for (const present of this.#squads.values()) this.#sweepOf(present)
  }

  #sweepOf({ members }: Present): void {
    const since = this.#monotonicMs() - SILENT_MS
    for (const [workerId, { heardMs }] of members) if (heardMs < since) this.#leave(workerId)
  }
}

const SWEEP_MS = 1_000

const lanesOf = ({ topics }: Squad): number => topics.length * EVERY_PRIORITY.length
