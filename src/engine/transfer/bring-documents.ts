/** Documents and flow keys of another store. What is there already stays: it was set for this store. */
import { decodeKey, encodeKey, gateIn } from '../../core/flow/document.ts'
import type { Store } from '../../store/store.ts'
import { noteKeyholder } from '../keyholders.ts'
import type { CarriedLimit, CarriedSetting } from './carried.ts'

export type DocumentFate = 'brought' | 'there' | 'different'

export async function broughtSetting(
  store: Pick<Store, 'settings'>,
  { collection, key, text }: CarriedSetting,
): Promise<DocumentFate> {
  const [answer] = await store.settings([{ op: 'put', collection, key, text, rev: 0 }])
  if (answer?.status === 'ok') return 'brought'
  return answer?.settings[0]?.text === text ? 'there' : 'different'
}

export async function broughtLimit(
  store: Pick<Store, 'commit' | 'events' | 'settings'>,
  { tenant, key, text, log }: CarriedLimit,
): Promise<DocumentFate> {
  const document = decodeKey(key, text)
  const next = { gate: gateIn(document), text: encodeKey(document), log }
  await noteKeyholder(store, tenant)
  const { verdicts } = await store.commit([{ kind: 'key', tenant, move: { key, rev: 0, next } }])
  if (verdicts[0]?.status === 'applied') return 'brought'
  const { keys = [] } = await store.events({ by: 'keys', tenant, names: [key], limit: 1 })
  return keys[0]?.text === next.text ? 'there' : 'different'
}
