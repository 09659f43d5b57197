/**
 * Forgets flow keys that are quiet: open, unused, and without a signal for a day. Names that jobs make up (hosts, customers) would else
 * pile up for ever. A page of one tenant's at a time, each tenant once in a while; a key that is used again is born again.
 */
import { decodeKey } from '../core/flow/document.ts'
import { isQuiet } from '../core/flow/quiet.ts'
import type { Time } from '../core/job.ts'
import type { Change, KeyView, Store } from '../store/store.ts'

const PAGE = 500
/** Between two walks over all keys. */
const EVERY_MS = 60 * 60 * 1_000

export class Forgetting {
  readonly #store: Pick<Store, 'events' | 'commit'>
  /** Tenants whose keys are still to be looked at, and how far among those of the first. */
  #tenants: string[] = []
  #cursor: string | undefined
  #nextAt: Time = 0
  /** Tenants that have had jobs since this process began: their keys may outlive the last of these. */
  readonly #known = new Set<string>()

  constructor(store: Pick<Store, 'events' | 'commit'>) {
    this.#store = store
  }

  get isAtItsEnd(): boolean {
    return this.#tenants.length === 0
  }

  /** Answers how many it has forgotten. */
  async round(now: Time): Promise<number> {
    if (this.isAtItsEnd && now < this.#nextAt) return 0
    if (this.isAtItsEnd) await this.#begin(now)
    const [tenant] = this.#tenants
    if (tenant === undefined) return 0
    const { keys = [], cursor } = await this.#store.events({ by: 'keys', tenant, limit: PAGE, cursor: this.#cursor })
    this.#cursor = cursor
    if (cursor === undefined) this.#tenants.shift()
    const quiet = keys.filter(({ key, text, count, held }) => held === 0 && isQuiet(decodeKey(key, text), count, now))
    if (quiet.length === 0) return 0
    // At the revision that was read, and only where nobody is held, stands or is owned: the store looks again.
    const forget = ({ key, rev }: KeyView): Change => ({ kind: 'key', tenant, move: { key, rev, next: 'forgotten' } })
    const { verdicts } = await this.#store.commit(quiet.map(forget))
    return verdicts.filter(({ status }) => status === 'applied').length
  }

  async #begin(now: Time): Promise<void> {
    this.#nextAt = now + EVERY_MS
    const { tally } = await this.#store.events({ by: 'tally' })
    for (const { tenant } of tally) this.#known.add(tenant)
    this.#tenants = [...this.#known]
  }
}
