/** Removes what workers told of themselves that have been silent for long, a page of all tenants' at a time. */
import type { Time } from '../core/job.ts'
import type { Setting, SettingOperation, Store } from '../store/store.ts'
import { REMEMBERED_MS } from './workers.ts'

const PAGE = 500

export class Departure {
  readonly #store: Pick<Store, 'settings'>
  #after = ''

  constructor(store: Pick<Store, 'settings'>) {
    this.#store = store
  }

  /** The next round begins at the front. */
  get isAtItsEnd(): boolean {
    return this.#after === ''
  }

  async round(now: Time): Promise<void> {
    const list: SettingOperation = { op: 'list', collection: 'worker', after: this.#after, limit: PAGE }
    const settings = (await this.#store.settings([list]))[0]?.settings ?? []
    this.#after = settings.length < PAGE ? '' : (settings.at(-1)?.key ?? '')
    const silent = settings.filter(({ updatedAt }) => now - updatedAt > REMEMBERED_MS)
    // Only at the revision that was read: a worker that has reported since is there.
    const remove = ({ key, rev }: Setting): SettingOperation => ({ op: 'remove', collection: 'worker', key, rev })
    if (silent.length > 0) await this.#store.settings(silent.map(remove))
  }
}
