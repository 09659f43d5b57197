import type { Inserted, NewJob, Transaction } from '../store/store.ts'
import type { EnqueueAnswer, EnqueueRequest } from './engine.ts'
import { enqueueTogether } from './enqueue-together.ts'
import type { ExecutorParts } from './execute.ts'
import { judge } from './judge.ts'
import { type Asked, born, draft } from './new-jobs.ts'

/** New jobs, one answer each; a bad one never fails its neighbours, unless they are to come together. */
export async function enqueue(
  parts: ExecutorParts,
  requests: readonly EnqueueRequest[],
  tx: Transaction | undefined,
  together: boolean,
): Promise<readonly EnqueueAnswer[]> {
  if (requests.length === 0) return []
  const answers: EnqueueAnswer[] = new Array(requests.length)
  const drafts = await draft(parts, requests, answers)
  if (together) return enqueueTogether(parts, requests, drafts, answers, tx)
  if (drafts.items.length === 0) return answers
  const { now, items } = await parts.store.insert(drafts.items, tx)
  parts.clock.heard(now)
  for (let n = 0; n < items.length; n += 1) {
    const { place, command } = drafts.asked[n] as Asked
    const inserted = items[n] as Inserted
    if (inserted.status === 'inserted') answers[place] = born(parts, drafts.items[n] as NewJob)
    else answers[place] = await judge(inserted, command, requests[place] as EnqueueRequest, parts)
  }
  return answers
}
