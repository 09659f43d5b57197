/**
 * Which lanes a claim's statement asks for: those it names, or, where it names many, those of them in which a job stands (`lanes_there`).
 * Then it names their queues as well, and is not parked, since a parked claim waits for all of its lanes.
 */
import { queueOf } from '../../codec/lane.ts'

/** Below this walking the lanes is as cheap: that is four queues. */
const MANY = 40

/** `s`: the schema's name, quoted; `queues`: the parameter that has them. Its lanes are the sixth. */
export const lanesAsked = (s: string, queues: string): string =>
  `(select case when ${queues}::int[] is null then $6::int[] else ${s}.lanes_there($6, ${queues}) end as lanes offset 0)`

/** Undefined: the lanes are asked for as they are. */
export function queuesAmong(lanes: readonly number[], mayPark: boolean): readonly number[] | undefined {
  return mayPark || lanes.length < MANY ? undefined : [...new Set(lanes.map(queueOf))]
}
