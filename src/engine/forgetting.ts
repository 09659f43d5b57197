/**
 * Forgets flow keys that are quiet: open, unused, and without a signal for a day. Names that jobs make up (hosts, customers) would else
 * pile up for ever. A page of one tenant's at a time, each tenant once in a while; a key that is used again is born again. Keys outlive
 * the jobs that named them, and this process may not: whose keys are left after a walk is kept in the store (`keyholders.ts`).
 */
import { decodeKey } from '../core/flow/document.ts'
import { AWAY_STATES } from '../core/flow/membership.ts'
import { isQuiet } from '../core/flow/quiet.ts'
import type { Time } from '../core/job.ts'
import type { Change, JobPage, KeyView, Store } from '../store/store.ts'
import { Keyholders } from './keyholders.ts'

const PAGE = 500
/** Jobs that wait elsewhere, looked at for one page of keys. */
const PAGES_MOST = 40
/** Between two walks over all keys. */
const EVERY_MS = 60 * 60 * 1_000

type ForgettingStore = Pick<Store, 'events' | 'commit' | 'find' | 'settings'>

export class Forgetting {
  readonly #store: ForgettingStore
  readonly #holders: Keyholders
  /** Tenants whose keys are still to be looked at, and how far among those of the first. */
  #tenants: string[] = []
  #cursor: string | undefined
  /** Keys of the first that this walk has left. */
  #left = 0
  #nextAt: Time = 0

  constructor(store: ForgettingStore) {
    this.#store = store
    this.#holders = new Keyholders(store)
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
    const forgotten = await this.#forgetQuiet(tenant, keys, now)
    this.#left += keys.length - forgotten
    this.#cursor = cursor
    if (cursor !== undefined) return forgotten
    await this.#holders.walked(tenant, this.#left)
    this.#left = 0
    this.#tenants.shift()
    return forgotten
  }

  async #forgetQuiet(tenant: string, keys: readonly KeyView[], now: Time): Promise<number> {
    const quiet = keys.filter(({ key, text, count, held }) => held === 0 && isQuiet(decodeKey(key, text), count, now))
    const needed = quiet.length === 0 ? undefined : await this.#needed(tenant)
    if (needed === undefined) return 0
    // At the revision that was read, and only where nobody is held, stands or is owned: the store looks again.
    const forget = ({ key, rev }: KeyView): Change => ({ kind: 'key', tenant, move: { key, rev, next: 'forgotten' } })
    const { verdicts } = await this.#store.commit(quiet.filter(({ key }) => !needed.has(key)).map(forget))
    return verdicts.filter(({ status }) => status === 'applied').length
  }

  /**
   * Keys of jobs that wait for something else than to be let in, and will need them as they are. Asked after the keys were read: who was
   * owned or held until then kept its own from being quiet. Undefined: there are too many to tell.
   */
  async #needed(tenant: string): Promise<ReadonlySet<string> | undefined> {
    const names = new Set<string>()
    let cursor: string | undefined
    for (let pages = 0; pages < PAGES_MOST; pages += 1) {
      const page: JobPage = await this.#store.find({
        tenant,
        states: AWAY_STATES,
        order: 'oldest',
        limit: PAGE,
        cursor,
      })
      for (const { spec } of page.jobs) for (const key of spec.flow?.keys ?? []) names.add(key)
      cursor = page.cursor
      if (cursor === undefined) return names
    }
    return undefined
  }

  async #begin(now: Time): Promise<void> {
    this.#nextAt = now + EVERY_MS
    const { tally } = await this.#store.events({ by: 'tally' })
    this.#tenants = [...new Set([...(await this.#holders.all()), ...tally.map(({ tenant }) => tenant)])]
  }
}
