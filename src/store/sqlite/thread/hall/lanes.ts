/**
 * Numbers of the lanes that jobs with keys or turns are in. While held, a job is in a lane of its flow's own, which no claim walks:
 * so its row is where all rows without an owner are, with its ticks, its marks and its place in a FIFO, and being let in is a
 * change of lane. Let in, it stands beside the lane that it would be in without a flow.
 */

/** Above the number of every lane: queues are few. */
const BESIDE = 2 ** 44

/** Below zero, where no queue has a lane. */
export const heldLane = (flow: number): number => -flow

/** All let-in lanes have a number above this one. */
export const BELOW_LET_IN = BESIDE

export const isLetIn = (lane: number): boolean => lane > BESIDE

export const letInLane = (lane: number): number => BESIDE + lane

/** The lane that a let-in one is beside; of another, that lane itself. */
export const plainLane = (lane: number): number => (isLetIn(lane) ? lane - BESIDE : lane)
