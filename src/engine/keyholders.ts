/**
 * Tenants that have flow keys, and maybe no job any more: no store lists them. One that has jobs is in the tally; that it has keys is
 * noted by the walk that finds them, and by a word that makes one where there may be no job at all; and taken off once a walk has left none.
 */
import type { SettingOperation, Store } from '../store/store.ts'

const PREFIX = 'keys of/'
const PAGE = 500

export class Keyholders {
  readonly #store: Pick<Store, 'settings'>
  /** As they were read at the beginning of a walk, with their revisions: a tenant that is noted meanwhile stays noted. */
  #noted = new Map<string, number>()

  constructor(store: Pick<Store, 'settings'>) {
    this.#store = store
  }

  async all(): Promise<readonly string[]> {
    const noted = new Map<string, number>()
    for (let after = PREFIX; ; ) {
      const [page] = await this.#store.settings([{ op: 'list', collection: 'duty', after, limit: PAGE }])
      const settings = page?.settings ?? []
      const own = settings.filter(({ key }) => key.startsWith(PREFIX))
      for (const { key, rev } of own) noted.set(JSON.parse(key.slice(PREFIX.length)) as string, rev)
      if (own.length < PAGE) break
      after = own.at(-1)?.key ?? after
    }
    this.#noted = noted
    return [...noted.keys()]
  }

  /** All keys of a tenant were looked at, and so many are left. */
  async walked(tenant: string, left: number): Promise<void> {
    const rev = this.#noted.get(tenant)
    if (left > 0 && rev === undefined) await noteKeyholder(this.#store, tenant)
    if (left > 0 || rev === undefined) return
    const remove: SettingOperation = { op: 'remove', collection: 'duty', key: keyOf(tenant), rev }
    await this.#store.settings([remove])
  }
}

/** Before its key is made: should the process die in between, the next walk finds none. */
export async function noteKeyholder(store: Pick<Store, 'settings'>, tenant: string): Promise<void> {
  await store.settings([{ op: 'put', collection: 'duty', key: keyOf(tenant), text: '{}', rev: undefined }])
}

/** As JSON: a tenant's name may have what no store keeps. */
const keyOf = (tenant: string): string => PREFIX + JSON.stringify(tenant)
