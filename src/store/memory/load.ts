import { isId } from '../../core/id.ts'
import type { Loaded, LoadItem } from '../store.ts'
import { keyName, type Shelf, type Shelves } from './shelves.ts'

export function load(shelves: Shelves, item: LoadItem): Loaded | undefined {
  const shelf = byIdOrAlias(shelves, item)
  if (shelf === undefined) return undefined
  if (item.tenant !== undefined && shelf.job.spec.kind.tenant !== item.tenant) return undefined
  const { requestId, log = 0 } = item
  const caused = requestId === undefined ? [] : shelves.caused(shelf, requestId)
  const bodies = wanted(shelf, item.bodies ?? [])
  const flow = item.flow === true ? shelves.hall.lobby(shelf.job) : undefined
  return { job: shelf.job, bodies, caused, flow, log: shelf.events.length <= log ? [...shelf.events] : undefined }
}

function byIdOrAlias(shelves: Shelves, { id, tenant, key }: LoadItem): Shelf | undefined {
  if (key === undefined && isId(id)) return shelves.jobs.get(id)
  if (tenant === undefined) return undefined
  const held = shelves.keys.get(keyName(tenant, key ?? 'alias', id))
  return held === undefined ? undefined : shelves.jobs.get(held.job)
}

function wanted({ bodies }: Shelf, names: readonly string[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>()
  for (const name of names) {
    for (const [each, text] of bodies) {
      if (each === name || (name.endsWith('/') && each.startsWith(name))) found.set(each, text)
    }
  }
  return Object.fromEntries(found)
}
