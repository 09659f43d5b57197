/** What a commit leaves for others to hear of and to look at. */

import { idNumber } from '../../../core/id.ts'
import type { Job } from '../../../core/job.ts'
import { isNews } from '../../../core/news.ts'
import type { Change, Verdict } from '../../store.ts'
import type { Places } from '../flow/rounds.ts'
import { type QueueSide, sideOf } from '../names/kinds.ts'

export interface News {
  /** Where jobs may be claimed now or later, once for each that has moved there. */
  readonly queues: readonly QueueSide[]
  /** Jobs that have ended, or whose owners are to hear something, by number. */
  readonly jobs: readonly (readonly [number: number, of: QueueSide])[]
  /** Where letting in is to look. */
  readonly places: Places
}

/** Whether there is anything to look at. */
export const isAnywhere = ({ keys = [], flows = [], lanes = [] }: Places): boolean =>
  [keys, flows, lanes].some((numbers) => !numbers[Symbol.iterator]().next().done)

/** Of moves that were applied. What they are to letting in is for `places`. (Inserts, and who lets in, tell of theirs themselves.) */
export function newsOf(changes: readonly Change[], verdicts: readonly Verdict[], places: Places = {}): News {
  const queues: QueueSide[] = []
  const jobs: [number, QueueSide][] = []
  const announce = (job: Job): void => {
    if (job.readyAt !== undefined && job.spec.flow === undefined) queues.push(sideOf(job))
  }
  for (let i = 0; i < changes.length; i += 1) {
    const change = changes[i] as Change
    if (change.kind !== 'move' || verdicts[i]?.status !== 'applied') continue
    const { before, after, notAfter, spawn } = change
    if (isNews(before, after, notAfter !== undefined)) jobs.push([idNumber(after.id) ?? 0, after.spec.kind])
    announce(after)
    if (spawn !== undefined) announce(spawn.job)
  }
  return { queues, jobs, places }
}
