/** A lane as one number, once its queue has one: the queue's, with room for every priority. */
import { COUNTS } from '../../core/limits.ts'

export const LANE_WIDTH = COUNTS.priority.max + 1

export const laneNumber = (queue: number, priority: number): number => queue * LANE_WIDTH + priority

export const queueOf = (lane: number): number => Math.floor(lane / LANE_WIDTH)

export const priorityOf = (lane: number): number => lane % LANE_WIDTH
