/**
 * A second chance for jobs that have ended: reopened; or, where a document's endings are final, a new job in their place with
 * the same words, whose parent is the old one. A letter has one such successor, however often it is asked for.
 */
import { assert } from '../core/assert.ts'
import { mayReopen } from '../core/dialects/bond.ts'
import type { Job } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Engine, EnqueueRequest, Word } from './engine.ts'

export interface RedriveAsked {
  readonly actor: string
  readonly requestId: string
}

/** For each job, in order: why it could not be redriven, or undefined where it was. */
export async function redriven(
  engine: Pick<Engine, 'settle' | 'load' | 'enqueue'>,
  jobs: readonly Job[],
  { actor, requestId }: RedriveAsked,
): Promise<readonly (Refusal | undefined)[]> {
  const open = jobs.filter(isReopened)
  const words = open.map(({ id }): Word => ({ id, command: { type: 'reopen', actor, requestId } }))
  const closed = jobs.filter((job) => !isReopened(job))
  const { items } = await engine.load(closed.map(({ id }) => ({ id, bodies: ['input'] })))
  const requests = closed.map((job, i) => inPlaceOf(job, items[i]?.bodies['input'], actor))
  const answers = new Map<string, Refusal | undefined>()
  for (const [i, answer] of (await engine.settle(words)).entries())
    answers.set(open[i]?.id ?? '', answer.ok ? undefined : answer.refusal)
  for (const [i, answer] of (await engine.enqueue(requests)).entries())
    answers.set(closed[i]?.id ?? '', answer.ok ? undefined : answer.refusal)
  assert(answers.size === jobs.length, 'every job is answered')
  return jobs.map(({ id }) => answers.get(id))
}

const isReopened = ({ spec }: Job): boolean => mayReopen(spec.kind.policy)

function inPlaceOf({ id, generation, priority, spec }: Job, input: string | undefined, actor: string): EnqueueRequest {
  const { kind, contextPtr, topic, adapterId, env, labels, workflowId, stepIndex, dedupeKey, flow, correlationId } =
    spec
  const shared = {
    kind,
    contextPtr,
    topic,
    adapterId,
    env,
    labels,
    workflowId,
    stepIndex,
    dedupeKey,
    flow,
    correlationId,
  }
  return { ...shared, actor, priority, input, parentId: id, requestId: `redrive/${id}/${generation}` }
}
