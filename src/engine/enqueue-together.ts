import { refuse } from '../core/refuse.ts'
import type { Inserted, NewJob, Transaction } from '../store/store.ts'
import type { EnqueueAnswer, EnqueueRequest } from './engine.ts'
import type { ExecutorParts } from './execute.ts'
import { judge } from './judge.ts'
import { born, type Candidates, forgetNumbers, numberTaken } from './new-jobs.ts'

/**
 * All of them or none. A holder of an id or key is no reason to refuse, if it is the same job or piece of business: then the
 * others are inserted without it. Each round leaves fewer to insert. Undefined: nothing was inserted, because some have
 * numbers that were given twice; all of them need new ones.
 */
export async function enqueueTogether(
  parts: ExecutorParts,
  requests: readonly EnqueueRequest[],
  candidates: Candidates,
  answers: EnqueueAnswer[],
  tx: Transaction | undefined,
): Promise<readonly EnqueueAnswer[] | undefined> {
  let left = candidates.asked.map((asked, n) => ({ ...asked, item: candidates.items[n] as NewJob }))
  while (left.length > 0 && left.length + answers.filter(isOk).length === requests.length) {
    const askedMs = parts.clock.asked()
    const { now, items } = await parts.store.insert(
      left.map(({ item }) => item),
      tx,
      true,
    )
    parts.clock.heard(now, askedMs)
    const lone = left.filter((_, n) => items[n]?.status === 'inserted')
    if (lone.length === left.length) {
      for (const { place, item } of left) answers[place] = born(parts, item)
      break
    }
    let twice = 0
    for (const [n, { place, command, item }] of left.entries()) {
      const met = items[n] as Inserted
      if (met.status === 'inserted') continue
      const request = requests[place] as EnqueueRequest
      const verdict = await judge(met, { item, command, request }, parts)
      if (verdict === undefined && request.reservedId === undefined) twice += 1
      else answers[place] = verdict ?? numberTaken(request.reservedId)
    }
    if (twice > 0) {
      forgetNumbers(parts, twice)
      return undefined
    }
    left = lone
  }
  if (!answers.every(isOk)) return requests.map((_, i) => refusedWith(answers[i]))
  return answers.map((answer) => settled(answer, candidates, answers))
}

/** A request that met another of the same call is answered with that one's job: a new one, or the one it met in turn. */
function settled(
  answer: EnqueueAnswer,
  { items, asked }: Candidates,
  answers: readonly EnqueueAnswer[],
): EnqueueAnswer {
  if (!answer.ok || !(answer.deduped || answer.replayed)) return answer
  const other = answers[asked[items.findIndex(({ job }) => job.id === answer.job.id)]?.place ?? -1]
  return other?.ok === true ? { ...answer, job: other.job } : answer
}

const isOk = (answer: EnqueueAnswer | undefined): boolean => answer?.ok === true

/** The answer to a request of a refused batch: its own refusal, or that others were refused. */
export const refusedWith = (answer: EnqueueAnswer | undefined): EnqueueAnswer =>
  answer === undefined || answer.ok ? { ok: false, refusal: refuse('OTHERS_REFUSED', { command: 'enqueue' }) } : answer
