/** What is told of an item of the feed: made once for all streams that show it. */
import type { Event } from '../../core/event.ts'
import type { FeedItem } from '../../store/store.ts'
import { eventToWire } from '../contract/wire.ts'
import { eventForViewers } from '../masking.ts'
import type { Positions } from '../positions.ts'

export interface Told {
  readonly correlationId: string | undefined
  frame(masked: boolean): string
}

export const tellWith =
  (positions: Positions) =>
  (item: FeedItem, event: Event | undefined): Told => {
    const { jobId, rev, type, queue, jobType } = item
    const frames = new Map<boolean, string>()
    const frame = (masked: boolean) => {
      const seen = event !== undefined && masked ? eventForViewers(event) : event
      const told = seen === undefined ? { jobId, rev, type } : eventToWire(seen)
      const data = JSON.stringify({ ...told, queue, jobType })
      return `id: ${positions.seal(item.position)}\nevent: ${type}\ndata: ${data}\n\n`
    }
    return {
      correlationId: event?.correlationId,
      frame(masked) {
        const made = frames.get(masked) ?? frame(masked)
        frames.set(masked, made)
        return made
      },
    }
  }
