import type { Job, State, Time } from '../core/job.ts'
import { hasBodies, isAwaitedBy, strippedIn } from '../core/stripped.ts'
import type { Store } from '../store/store.ts'
import { type Ended, EndedPass } from './ended-pass.ts'
import type { Engine, Word } from './engine.ts'

/** A pass looks at all that is old enough and not yet removed, whether stripped or not: there is one in a tenth of the age, or in so long. */
const PASS_EVERY_MS = 6 * 60 * 60 * 1_000

export interface StrippingParts {
  readonly store: Pick<Store, 'find' | 'load'>
  readonly engine: Pick<Engine, 'settle'>
}

export interface StrippingAsked extends Omit<Ended, 'states'> {
  readonly wants: (job: Job) => boolean
  /** States that were named. */
  readonly evenOf: readonly State[]
}

/** What is beside jobs that ended so long ago goes. */
export class Stripping {
  readonly #parts: StrippingParts
  readonly #asked: StrippingAsked
  readonly #pass: EndedPass
  readonly #passEveryMs: number
  #begunAt = Number.NEGATIVE_INFINITY

  constructor(parts: StrippingParts, asked: StrippingAsked) {
    this.#parts = parts
    this.#asked = asked
    this.#pass = new EndedPass(parts.store, { ...asked, states: strippedIn(asked.evenOf) })
    this.#passEveryMs = Math.min(asked.ageMs / 10, PASS_EVERY_MS)
  }

  get isAtItsEnd(): boolean {
    return this.#pass.isAtItsEnd
  }

  /** Answers how many it has stripped. */
  async round(now: Time, signal: AbortSignal): Promise<number> {
    if (this.isAtItsEnd && now < this.#begunAt + this.#passEveryMs) return 0
    if (this.isAtItsEnd) this.#begunAt = now
    return await this.#pass.round(now, signal, (jobs) => this.#strip(jobs))
  }

  async #strip(jobs: readonly Job[]): Promise<number> {
    const wanted = jobs.filter((job) => hasBodies(job) && this.#asked.wants(job))
    const words = (await this.#unawaited(wanted)).map((job) => this.#wordFor(job))
    const answers = words.length === 0 ? [] : await this.#parts.engine.settle(words)
    return answers.filter(({ ok }) => ok).length
  }

  async #unawaited(jobs: readonly Job[]): Promise<readonly Job[]> {
    const parents = [...new Set(jobs.flatMap(({ spec }) => spec.parentId ?? []))]
    if (parents.length === 0) return jobs
    const { items } = await this.#parts.store.load(parents.map((id) => ({ id })))
    const awaiting = new Set(parents.filter((_, i) => isAwaitedBy(items[i]?.job)))
    return jobs.filter(({ spec }) => spec.parentId === undefined || !awaiting.has(spec.parentId))
  }

  /** About the very revision that was looked at: a job that somebody reopens meanwhile keeps what it has. */
  #wordFor({ id, rev, state }: Job): Word {
    const evenOf = this.#asked.evenOf.includes(state) ? state : undefined
    const stamp = { actor: 'system:retention', requestId: `strip/${rev}`, expectedRev: rev }
    return { id, command: { ...stamp, type: 'strip', evenOf } }
  }
}
