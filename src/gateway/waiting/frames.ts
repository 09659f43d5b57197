/** The frames of an item of the feed, whole and masked: made once for all streams that show it. */
import type { Event } from '../../core/event.ts'
import type { FeedItem } from '../../store/store.ts'
import { eventToWire } from '../contract/wire.ts'
import { eventForViewers } from '../masking.ts'
import type { Positions } from '../positions.ts'

export interface Frames {
  readonly correlationId: string | undefined
  frame(masked: boolean): string
  /** Letters of its frames: all that is kept of it. */
  readonly length: number
}

export const framesWith =
  (positions: Positions) =>
  (item: FeedItem, event: Event | undefined): Frames => {
    const { jobId, rev, type, queue, jobType } = item
    const head = `id: ${positions.seal(item.position)}\nevent: ${type}\ndata: `
    const frame = (seen: Event | undefined): string => {
      const shown = seen === undefined ? { jobId, rev, type } : eventToWire(seen)
      return `${head}${JSON.stringify({ ...shown, queue, jobType })}\n\n`
    }
    const masked = event && eventForViewers(event)
    const whole = frame(event)
    const forViewers = masked === event ? whole : frame(masked)
    return {
      correlationId: event?.correlationId,
      frame: (isMasked) => (isMasked ? forViewers : whole),
      length: masked === event ? whole.length : whole.length + forViewers.length,
    }
  }
