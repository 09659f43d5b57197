/**
 * The lanes of jobs that have keys, as numbers. Held, a job is in its flow's own, which no claim asks for; let in, it stands in the
 * let-in lane beside the lane of its queue and priority. Both are reckoned, so that nobody has to ask for them.
 */

/** How much further on than a lane its let-in lane is. A lane is ten times the number of a queue, and a number has 31 bits. */
export const LET_IN = 1_000_000_000

export const letInLane = (lane: number): number => lane + LET_IN

export const heldLane = (flow: number): number => -flow

export const isLetInLane = (lane: number): boolean => lane > LET_IN
