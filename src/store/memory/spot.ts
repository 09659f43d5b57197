/** Where a job with a flow is, and what follows from that alone. */
import { atKey, type Place } from '../../core/flow/hall.ts'
import type { Watch } from '../../core/flow/watch.ts'
import type { JobId, Time } from '../../core/job.ts'
import type { Mend } from '../store.ts'
import type { KeyShelf } from './flow-key.ts'
import { keyId, type Whereabouts } from './flows.ts'

export interface Spot extends Whereabouts {
  readonly at: 'held' | 'standing' | 'owned'
  readonly number: number
}

type Spots = ReadonlyMap<JobId, Spot>
type Keys = ReadonlyMap<string, KeyShelf>

/** Slots as the spots of jobs say. Answers with the keys that somebody is to look at. */
export function mendSlots(keys: Keys, spots: Spots, mend: Mend, now: Time): readonly string[] {
  const isSeated = (job: JobId, key: string): boolean => {
    const spot = spots.get(job)
    return spot !== undefined && spot.at !== 'held' && spot.keys.includes(key)
  }
  const named = mend.keys.map((key) => keyId(mend.tenant, key)).filter((id) => keys.has(id))
  for (const id of named) for (const job of keys.get(id)?.jobs ?? []) if (!isSeated(job, id)) keys.get(id)?.drop(job)
  for (const { id, lease } of mend.jobs) {
    for (const key of spots.get(id)?.keys ?? []) {
      const shelf = keys.get(key)
      if (isSeated(id, key)) shelf?.take(id, now, lease?.grantedAt)
    }
  }
  for (const { key, at } of mend.claims) keys.get(keyId(mend.tenant, key))?.pace(at)
  for (const { key, amount } of mend.spent) keys.get(keyId(mend.tenant, key))?.spend(amount, now)
  return named
}

/** The key among its own that a flow waits at, and when somebody looks there. */
export function watchAtKey(
  { keys }: Spot,
  waitsAt: Place | undefined,
  shelves: Keys,
  wakeAt: (id: string) => Time | undefined,
): Watch | undefined {
  const id = keys.find((each) => waitsAt === atKey(each))
  const key = id === undefined ? undefined : shelves.get(id)?.document().key
  return id === undefined || key === undefined ? undefined : { by: 'key', key, wakeAt: wakeAt(id) }
}
