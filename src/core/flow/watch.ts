/** Who will look at a flow that holds jobs (F11): where nobody does, its jobs are held for ever, whatever room there is. */
import type { Time } from '../job.ts'
import { shortageOf } from './room.ts'
import type { Counted } from './slots.ts'

/** The first of these that is true of a flow. */
export type Watch =
  /** It is among what has come, or where it waits is among what was changed: the next look is at it. */
  | { readonly by: 'arrival' }
  | { readonly by: 'time'; readonly at: Time }
  /** Whoever frees a slot of the key, which is one of its own; and the ticker, at `wakeAt`. */
  | { readonly by: 'key'; readonly key: string; readonly wakeAt: Time | undefined }
  /** Every round of the ticker. */
  | { readonly by: 'lane' }
  /** Whoever resumes the queue. */
  | { readonly by: 'queue'; readonly isPaused: boolean }

/** Why nobody will look at it; undefined where somebody will. `key`: the one that it waits at, as it is now. */
export function overlooked(watch: Watch | undefined, key: Counted | undefined, now: Time): string | undefined {
  if (watch === undefined) return 'it waits nowhere, and no time is set'
  if (watch.by === 'queue')
    return watch.isPaused ? undefined : 'it waits for its queue to be resumed, which is not paused'
  if (watch.by !== 'key') return undefined
  if (key === undefined) return `it waits at key ${watch.key}, which is not there`
  // Its time has come: the next round of the ticker looks.
  if (watch.wakeAt !== undefined && watch.wakeAt <= now) return undefined
  const shortage = shortageOf(key.gate, key.count, now)
  if (shortage === undefined) return `it waits at key ${watch.key}, which has room`
  if (shortage.wakeAt === undefined || (watch.wakeAt !== undefined && watch.wakeAt <= shortage.wakeAt)) return undefined
  return `it waits at key ${watch.key}, where nobody looks when there may be room`
}
