import type { TrafficAnswer } from '../api/wire.ts'

/** When the steps of a window begin. The one that is being filled is left out: it would look like a fall. */
export function stepTimes({ stepMs, at, from }: TrafficAnswer): readonly number[] {
  const begin = Math.floor(Date.parse(from) / stepMs) * stepMs
  const end = Math.floor(Date.parse(at) / stepMs) * stepMs
  const times: number[] = []
  for (let time = begin; time < Math.max(end, begin + stepMs); time += stepMs) times.push(time)
  return times
}
