/** Documents that a tenant has under names of its own: their keys are the tenant's name and theirs. */
import type { Setting, SettingOperation } from '../store/store.ts'
import type { Engine } from './engine.ts'

type Collection = Extract<SettingOperation, { op: 'list' }>['collection']

const PAGE = 500

/** The prefix that all keys of a tenant have, and no other tenant's. */
export const prefixOf = (tenant: string): string => `[${JSON.stringify(tenant)},`

/** Documents after a key, in the order of the keys, so many at a time. A page that is not full is the last. */
export async function pageOf(
  engine: Pick<Engine, 'settings'>,
  collection: Collection,
  tenant: string,
  after: string,
  most = PAGE,
): Promise<{ readonly settings: readonly Setting[]; readonly isLast: boolean }> {
  const [page] = await engine.settings([{ op: 'list', collection, after, limit: most }])
  const settings = (page?.settings ?? []).filter(({ key }) => key.startsWith(prefixOf(tenant)))
  return { settings, isLast: settings.length < most }
}

/** Removes documents that say nothing any more and counts the others, up to `most`. */
export async function countOf(
  engine: Pick<Engine, 'settings'>,
  collection: Collection,
  tenant: string,
  most: number,
  isIdle: (setting: Setting) => boolean = () => false,
): Promise<number> {
  let count = 0
  for (let after = prefixOf(tenant); count < most; ) {
    const { settings, isLast } = await pageOf(engine, collection, tenant, after)
    const idle = settings.filter(isIdle)
    const remove = ({ key, rev }: Setting): SettingOperation => ({ op: 'remove', collection, key, rev })
    if (idle.length > 0) await engine.settings(idle.map(remove))
    count += settings.length - idle.length
    if (isLast) break
    after = settings.at(-1)?.key ?? after
  }
  return count
}
