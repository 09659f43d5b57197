/**
 * A second chance for jobs that have ended: reopened; or, where a document's endings are final, a new job in their place with
 * the same words, whose parent is the old one. A letter has one such successor, however often it is asked for.
 */
import { assert } from '../core/assert.ts'
import { mayReopen } from '../core/dialects/bond.ts'
import { wordsInPlaceOf } from '../core/in-place.ts'
import type { Job, JobId } from '../core/job.ts'
import { isHeldForLife } from '../core/keys.ts'
import { askedOf } from '../core/recast.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { gone } from '../core/stripped.ts'
import type { Answer, Engine, EnqueueAnswer, EnqueueRequest, Word } from './engine.ts'
import { isSealed, sealedHere } from './sealed-text.ts'

export interface RedriveAsked {
  readonly actor: string
  readonly requestId: string
  readonly reason?: string | undefined
}

/** The job that runs in its place, itself where it was reopened; or why there is none. */
export type Driven =
  | { readonly ok: true; readonly id: JobId }
  | { readonly ok: false; readonly id: JobId; readonly refusal: Refusal }

/** For each job, in order, what became of it. */
export async function redriven(
  engine: Pick<Engine, 'settle' | 'load' | 'enqueue'>,
  jobs: readonly Job[],
  { actor, requestId, reason }: RedriveAsked,
): Promise<readonly Driven[]> {
  const open = jobs.filter(isReopened)
  const words = open.map(({ id }): Word => ({ id, command: { type: 'reopen', actor, requestId, reason } }))
  const final = jobs.filter((job) => !isReopened(job))
  const { items } = await engine.load(final.map(({ id }) => ({ id, bodies: ['input'] })))
  const driven = new Map<JobId, Driven>()
  const closed: Job[] = []
  const requests: EnqueueRequest[] = []
  for (const [i, job] of final.entries()) {
    const input = items[i]?.bodies['input']
    const bare = gone(job)
    // It is bound to the job it is of: nobody could open it in another.
    if (bare !== undefined)
      driven.set(job.id, { ok: false, id: job.id, refusal: refuse(bare.code, { job, message: bare.message }) })
    else if (isSealed(input)) driven.set(job.id, { ok: false, id: job.id, refusal: sealedHere(job) })
    else {
      closed.push(job)
      requests.push({ ...inPlaceOf(job, input, actor), requestId: `redrive/${job.id}/${job.generation}` })
    }
  }
  const answer = (job: Job | undefined, given: Answer | EnqueueAnswer) => {
    assert(job !== undefined, 'there is an answer to each word, and no other')
    driven.set(job.id, drivenBy(job, given))
  }
  for (const [i, given] of (await engine.settle(words)).entries()) answer(open[i], given)
  for (const [i, given] of (await engine.enqueue(requests)).entries()) answer(closed[i], given)
  return jobs.map(({ id }) => {
    const found = driven.get(id)
    assert(found !== undefined, 'every job is answered')
    return found
  })
}

export function drivenBy({ id }: Job, given: Answer | EnqueueAnswer): Driven {
  if (!given.ok) return { ok: false, id, refusal: given.refusal }
  // Another holds the dedupe key since: no job was made, and to say otherwise would lose it.
  if ('deduped' in given && given.deduped) {
    const message = `No job was made in place of ${id}: its dedupe key is held by job ${given.job.id}.`
    return { ok: false, id, refusal: refuse('KEY_TAKEN', { command: 'enqueue', message, holder: given.job.id }) }
  }
  return { ok: true, id: 'job' in given ? given.job.id : id }
}

const isReopened = ({ spec }: Job): boolean => mayReopen(spec.kind.policy)

/**
 * A new job with the words of an old one, which is its parent. A key that is held beyond the life of its job stays the old
 * one's: taken along, it would be held already, and the letter could not be driven before its window is over.
 */
export function inPlaceOf(job: Job, input: string | undefined, actor: string): Omit<EnqueueRequest, 'requestId'> {
  const { id, priority } = job
  const spec = askedOf(job)
  const { kind, correlationId } = spec
  const words = { ...wordsInPlaceOf(spec), ...(isHeldForLife(spec) ? {} : { dedupeKey: undefined }) }
  return { ...words, kind, correlationId, actor, priority, input, parentId: id, older: true }
}
