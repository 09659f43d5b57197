import type { Gate } from '../../core/flow/gate.ts'
import { type Counted, countOf, paceLeftBy, type Slot, windowAt } from '../../core/flow/slots.ts'
import { isStanding, newestFirst } from '../../core/flow/take-back.ts'
import type { JobId, Time } from '../../core/job.ts'
import type { FlowKey, KeyBirth, KeyMove, KeyView } from '../store.ts'

/** Slots shown of a key that is being probed. */
const PROBES_SHOWN = 10

/** A flow key and what is taken of it. */
export class KeyShelf {
  readonly #tenant: string
  readonly #key: string
  #gate: Gate
  #text: string
  #log: string | undefined
  #rev: number
  readonly #slots = new Map<JobId, Slot>()
  /** When jobs were claimed whose slots are free again; what no rate counts any more is dropped with the next. */
  #paces: readonly Time[] = []
  #spent = 0
  /** The window of its budget that `#spent` is of. */
  #window = 0

  /** At revision 0 nobody has said anything of it but jobs that name it. */
  constructor(tenant: string, { key, gate, text, log }: KeyBirth & Pick<FlowKey, 'log'>, rev = 1) {
    this.#rev = rev
    this.#tenant = tenant
    this.#key = key
    this.#gate = gate
    this.#text = text
    this.#log = log
  }

  get gate(): Gate {
    return this.#gate
  }

  get rev(): number {
    return this.#rev
  }

  get text(): string {
    return this.#text
  }

  get taken(): number {
    return this.#slots.size
  }

  change({ gate, text, log }: Exclude<KeyMove['next'], string>): void {
    this.#gate = gate
    this.#text = text
    this.#log = log ?? this.#log
    this.#rev += 1
  }

  /** Jobs that have a slot. */
  get jobs(): readonly JobId[] {
    return [...this.#slots.keys()]
  }

  /** The slot of a job that is not there. Nothing of it is counted. */
  drop(job: JobId): void {
    this.#slots.delete(job)
  }

  /** A slot for a job that is let in, or that somebody owns. */
  take(job: JobId, letInAt: Time, claimedAt: Time | undefined): void {
    const letIn = this.#slots.get(job)?.letInAt ?? letInAt
    this.#slots.set(job, { job, letInAt: letIn, claimedAt })
  }

  free(job: JobId, now: Time): void {
    const slot = this.#slots.get(job)
    if (slot === undefined) return
    this.#slots.delete(job)
    const pace = paceLeftBy(slot, this.#gate, now)
    const counted = this.#paces.filter((at) => at > now - this.#gate.rateMs)
    this.#paces = pace === undefined ? counted : [...counted, pace]
  }

  /** A claim that its rate counts, of a slot that is free again. */
  pace(at: Time): void {
    this.#paces = [...this.#paces, at]
  }

  spend(amount: number, now: Time): void {
    if (this.#gate.budget === undefined) return
    const window = windowAt(this.#gate, now)
    this.#spent = (window === this.#window ? this.#spent : 0) + amount
    this.#window = window
  }

  counted(now: Time): Counted {
    const gate = this.#gate
    const use = { gate, slots: [...this.#slots.values()], paces: this.#paces, spent: this.#spent, window: this.#window }
    return { gate, count: countOf(use, now) }
  }

  /** Slots of jobs that nobody has claimed, the newest first. */
  standing(): readonly Slot[] {
    return [...this.#slots.values()].filter(isStanding).sort(newestFirst)
  }

  document(): FlowKey {
    return {
      tenant: this.#tenant,
      key: this.#key,
      gate: this.#gate,
      text: this.#text,
      log: this.#log,
      rev: this.#rev,
    }
  }

  view(held: number, now: Time): KeyView {
    const { since } = this.#gate
    const probes = since === 0 ? [] : [...this.#slots.values()].filter(({ letInAt }) => letInAt >= since)
    return { ...this.document(), ...this.counted(now), probes: probes.slice(0, PROBES_SHOWN), held }
  }
}
