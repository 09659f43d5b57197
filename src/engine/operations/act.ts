/**
 * What an operation does to a page of jobs. Said again with the same jobs it does nothing more, and answers the same: words
 * and new jobs have request ids of the operation's, and what is removed stays removed.
 */
import type { Job, JobId } from '../../core/job.ts'
import type { Edit, OperationSpec } from '../../core/operation.ts'
import { reasonOf } from '../../core/reason.ts'
import type { Refusal } from '../../core/refusal.ts'
import { refuse } from '../../core/refuse.ts'
import { gone } from '../../core/stripped.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from '../engine.ts'
import { drivenBy, inPlaceOf, redriven } from '../redriven.ts'
import { isSealed, sealedHere } from '../sealed-text.ts'
import type { Outcome } from './course.ts'
import { merged } from './merge-patch.ts'

export interface ActParts {
  readonly engine: Pick<Engine, 'settle' | 'load' | 'enqueue'>
  /** Of each, whether it is gone. */
  readonly purge: (ids: readonly JobId[]) => Promise<readonly boolean[]>
}

/** `requestId`: of the operation, the same whenever this is said. */
export async function act(
  parts: ActParts,
  { action, by, reason, mode, edit }: OperationSpec,
  ids: readonly JobId[],
  requestId: string,
): Promise<readonly Outcome[]> {
  switch (action) {
    case 'redrive':
      return redrive(parts, ids, { actor: by, requestId, reason }, edit)
    case 'cancel': {
      const command = { type: 'cancel', actor: by, requestId, mode, reason } as const
      const answers = await parts.engine.settle(ids.map((id) => ({ id, command })))
      return ids.map((id, i) => outcomeOf(id, answers[i]))
    }
    case 'purge': {
      const gone = await parts.purge(ids)
      return ids.map((id, i) => (gone[i] === true ? { id } : { id, refusal: stays(id) }))
    }
  }
}

const outcomeOf = (
  id: JobId,
  answer: { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal } | undefined,
): Outcome => (answer?.ok === false ? { id, refusal: answer.refusal } : { id })

const stays = (jobId: JobId): Refusal =>
  refuse('REV_CONFLICT', { jobId, message: 'The job has not ended, or moved on just now: it stays.' })

interface Asked {
  readonly actor: string
  readonly requestId: string
  readonly reason: string | undefined
}

async function redrive(
  { engine }: ActParts,
  ids: readonly JobId[],
  asked: Asked,
  edit: Edit | undefined,
): Promise<readonly Outcome[]> {
  const bodies = edit === undefined ? [] : ['input']
  const { items } = await engine.load(ids.map((id) => ({ id, bodies })))
  const there = items.filter((item) => item !== undefined)
  const jobs = there.map(({ job }) => job)
  const driven =
    edit === undefined
      ? await redriven(engine, jobs, asked)
      : await edited(
          engine,
          jobs,
          there.map((item) => item.bodies['input']),
          edit,
          asked,
        )
  const outcomes = new Map(jobs.map(({ id }, i) => [id, driven[i]]))
  return ids.map((id) => {
    const became = outcomes.get(id)
    return became === undefined ? { id, refusal: refuse('NOT_FOUND', { jobId: id }) } : became
  })
}

/** A new job for each, whose parent the old one is. The old one stays as it ended. */
async function edited(
  engine: ActParts['engine'],
  jobs: readonly Job[],
  inputs: readonly (string | undefined)[],
  edit: Edit,
  { actor, requestId }: Asked,
): Promise<readonly Outcome[]> {
  const requests = jobs.map((job, i): EnqueueRequest | Refusal => {
    const input = inputFrom(edit, inputs[i], job)
    return typeof input === 'string' ? { ...inPlaceOf(job, input, actor), requestId: `${requestId}/${job.id}` } : input
  })
  const sent = requests.filter((request): request is EnqueueRequest => 'kind' in request)
  const answers = await engine.enqueue(sent)
  return jobs.map((job, i) => {
    const request = requests[i] as EnqueueRequest | Refusal
    if (!('kind' in request)) return { id: job.id, refusal: request }
    return drivenBy(job, answers[sent.indexOf(request)] as EnqueueAnswer)
  })
}

function inputFrom(edit: Edit, input: string | undefined, job: Job): string | Refusal {
  // Its successor would stand in the clear, or lose what the patch does not say.
  if (isSealed(input)) return sealedHere(job)
  if ('input' in edit) return edit.input
  const bare = gone(job)
  if (bare !== undefined) return refuse(bare.code, { job, message: bare.message })
  try {
    return merged(input ?? 'null', edit.patch)
  } catch (error) {
    const message = `Its input cannot be patched: ${reasonOf(error)}`
    return refuse('INVALID', { job, violations: [{ field: 'input', rule: message }], message })
  }
}
