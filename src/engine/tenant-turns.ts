/**
 * Tenants whose jobs stand behind those of another, as who has been handed a full batch asks: `due` hands out by age, over all of them. What
 * is found here was handed out to nobody: of two schedulers that judge the same job one is heard.
 */
import type { Job, Time } from '../core/job.ts'
import { judgeAt } from '../core/timers.ts'
import { statesBefore } from '../core/transitions.ts'
import type { Store } from '../store/store.ts'

const JUDGED_FROM = statesBefore('admit')
/** A tenant that has been handed so many has had its turn. */
const SHARE = 10
/** Tenants that get a turn at a time. */
const AT_ONCE = 20
/** Which tenants there are is asked no more often than this, and a tenant that nobody may judge gets no turn for as long. */
const LOOKED_MS = 250
const SKIPPED_MS = 5_000
/** Of a tenant, looked at in one turn: most may wait for an approval. */
const PAGE = 50

export class Turns {
  readonly #store: Pick<Store, 'events' | 'find'>
  #tenants: readonly string[] = []
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Whose turn was the last. */
  #last = ''
  /** Where the next look at a tenant begins, if there is more behind what waits for approvals. */
  readonly #places = new Map<string, string>()
  readonly #skipped = new Map<string, Time>()

  constructor(store: Pick<Store, 'events' | 'find'>) {
    this.#store = store
  }

  /** Nothing of this tenant may be judged now. */
  skip(tenant: string, now: Time): void {
    this.#skipped.set(tenant, now + SKIPPED_MS)
  }

  /** Jobs of tenants that have less than their share of those that were handed out. */
  async after(handed: readonly Job[], now: Time): Promise<readonly Job[]> {
    const counts = new Map<string, number>()
    for (const { spec } of handed) counts.set(spec.kind.tenant, (counts.get(spec.kind.tenant) ?? 0) + 1)
    const waiting = (await this.#waiting(now)).filter(
      (tenant) => (counts.get(tenant) ?? 0) < SHARE && (this.#skipped.get(tenant) ?? now) <= now,
    )
    const next = waiting.findIndex((tenant) => tenant > this.#last)
    const from = next === -1 ? 0 : next
    const those = [...waiting.slice(from), ...waiting.slice(0, from)].slice(0, AT_ONCE)
    this.#last = those.at(-1) ?? this.#last
    return (await Promise.all(those.map((tenant) => this.#of(tenant)))).flat()
  }

  /** In the order of their names. */
  async #waiting(now: Time): Promise<readonly string[]> {
    if (now < this.#lookedAt + LOOKED_MS) return this.#tenants
    const { tally } = await this.#store.events({ by: 'tally' })
    const waits = tally.filter(({ state, count }) => count > 0 && JUDGED_FROM.includes(state))
    this.#tenants = [...new Set(waits.map(({ tenant }) => tenant))].sort()
    this.#lookedAt = now
    for (const [tenant, until] of this.#skipped) if (until <= now) this.#skipped.delete(tenant)
    for (const tenant of this.#places.keys()) if (!this.#tenants.includes(tenant)) this.#places.delete(tenant)
    return this.#tenants
  }

  async #of(tenant: string): Promise<readonly Job[]> {
    const cursor = this.#places.get(tenant)
    const page = await this.#store.find({ tenant, states: JUDGED_FROM, order: 'oldest', limit: PAGE, cursor })
    const jobs = page.jobs.filter((job) => (judgeAt(job) ?? Number.POSITIVE_INFINITY) <= page.now).slice(0, SHARE)
    if (jobs.length === 0 && page.cursor !== undefined) this.#places.set(tenant, page.cursor)
    else this.#places.delete(tenant)
    return jobs
  }
}
