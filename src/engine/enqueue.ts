import type { Inserted, NewJob, Transaction } from '../store/store.ts'
import type { EnqueueAnswer, EnqueueRequest } from './engine.ts'
import { enqueueTogether } from './enqueue-together.ts'
import type { ExecutorParts } from './execute.ts'
import { judge } from './judge.ts'
import { type Asked, born, candidatesOf, forgetNumbers, numbersFor, numberTaken } from './new-jobs.ts'

/** New jobs, one answer each; a bad one never fails its neighbours, unless they are to come together. */
export async function enqueue(
  parts: ExecutorParts,
  requests: readonly EnqueueRequest[],
  tx: Transaction | undefined,
  together: boolean,
): Promise<readonly EnqueueAnswer[]> {
  if (requests.length === 0) return []
  const answers: EnqueueAnswer[] = new Array(requests.length)
  const numbers = numbersFor(parts, requests)
  const candidates = candidatesOf(parts, requests, numbers instanceof Promise ? await numbers : numbers, answers)
  if (together) {
    const all = await enqueueTogether(parts, requests, candidates, answers, tx)
    return all ?? enqueue(parts, requests, tx, true)
  }
  if (candidates.items.length === 0) return answers
  const askedMs = parts.clock.asked()
  const { now, items } = await parts.store.insert(candidates.items, tx)
  parts.clock.heard(now, askedMs)
  const again: number[] = []
  for (let n = 0; n < items.length; n += 1) {
    const { place, command } = candidates.asked[n] as Asked
    const item = candidates.items[n] as NewJob
    const inserted = items[n] as Inserted
    if (inserted.status === 'inserted') {
      answers[place] = born(parts, item)
      continue
    }
    const verdict = await judge(inserted, { item, command, request: requests[place] as EnqueueRequest }, parts)
    if (verdict === undefined) again.push(place)
    else answers[place] = verdict
  }
  if (again.length > 0) await anew(parts, requests, again, answers, tx)
  return answers
}

/** Enqueues again under new numbers. Not sealed inputs: they are bound to the old number and cannot be opened under another. */
async function anew(
  parts: ExecutorParts,
  requests: readonly EnqueueRequest[],
  places: readonly number[],
  answers: EnqueueAnswer[],
  tx: Transaction | undefined,
): Promise<void> {
  forgetNumbers(parts, places.length)
  const free = places.filter((place) => requests[place]?.reservedId === undefined)
  const judged = await enqueue(
    parts,
    free.map((place) => requests[place] as EnqueueRequest),
    tx,
    false,
  )
  for (const [n, place] of free.entries()) answers[place] = judged[n] as EnqueueAnswer
  for (const place of places) answers[place] ??= numberTaken(requests[place]?.reservedId)
}
