/** JobRequests that come over the bus, into the store. What they mean is what HTTP makes of the same words. */
import { requested } from '../core/dialects/job-request.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Engine, EnqueueRequest } from '../engine/engine.ts'
import { type JobTypes, unsaidIn } from '../engine/job-types.ts'
import { addressedBy } from '../engine/topic.ts'
import { type Read, read, type Submission, submission } from './messages.ts'
import type { Outcome, Spoken } from './spoken.ts'
import { subjectsOf } from './subjects.ts'

export interface SubmissionParts {
  readonly engine: Pick<Engine, 'enqueue'>
  readonly types: JobTypes
  readonly tenant: string
}

const ACTOR = 'producer:bus'

/** All of them in one call; each is accepted or refused by itself. */
export async function submitted(parts: SubmissionParts, messages: readonly Spoken[]): Promise<readonly Outcome[]> {
  const asked = await Promise.all(messages.map((message) => requestOf(parts, message)))
  const requests = asked.flatMap((each) => (each.ok ? [each.value] : []))
  const answers = requests.length === 0 ? [] : await parts.engine.enqueue(requests)
  let at = 0
  return asked.map((each) => {
    if (!each.ok) return each
    const answer = answers[at++]
    if (answer === undefined) throw new Error('every request is answered')
    return answer.ok ? { ok: true } : { ok: false, refusal: answer.refusal, jobId: each.value.id }
  })
}

async function requestOf({ types, tenant }: SubmissionParts, message: Spoken): Promise<Read<EnqueueRequest>> {
  const said = read(submission, message.text)
  if (!said.ok) return said
  const { value } = said
  const { topic } = value
  // Compared as it is written: who may publish under a subject says nothing about another, and one that means no name is nobody's.
  if (message.subject !== subjectsOf(tenant).submit(topic))
    return misdirected(value, `must be the topic it is published under: ${message.subject} is another's`)
  const addressed = await addressedBy(types, tenant, topic)
  const named = await types.named({ tenant, type: topic, queue: addressed.queue, policy: addressed.said.policy })
  if (named === undefined) throw new Error('a type in a queue is a kind')
  if (!named.ok) return { ok: false, refusal: invalid(named.violations, value.job_id) }
  const request = {
    actor: ACTOR,
    kind: named.kind,
    unsaid: unsaidIn(addressed.said),
    input: undefined,
    ...requested(value),
  }
  return { ok: true, value: request }
}

const misdirected = ({ job_id }: Submission, rule: string): Read<never> => ({
  ok: false,
  refusal: invalid([{ field: 'message.topic', rule }], job_id),
})

const invalid = (violations: Refusal['violations'], jobId: string): Refusal =>
  refuse('INVALID', { command: 'enqueue', jobId, violations })
