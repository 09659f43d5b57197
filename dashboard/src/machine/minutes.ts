import type { TrafficAnswer } from '../api/wire.ts'

/** How much of a window has been counted; a few seconds of it are no measure yet. */
export const minutesOf = ({ at, from }: TrafficAnswer): number =>
  Math.max(1 / 6, (Date.parse(at) - Date.parse(from)) / 60_000)
