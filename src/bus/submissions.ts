/** JobRequests that come over the bus, into the store. What they mean is what HTTP makes of the same words. */
import { requested } from '../core/dialects/job-request.ts'
import type { Engine, EnqueueRequest } from '../engine/engine.ts'
import { type JobTypes, unsaidIn } from '../engine/job-types.ts'
import { addressedBy } from '../engine/topic.ts'
import type { Census } from '../gateway/census.ts'
import { Objected } from '../gateway/problem.ts'
import { invalid, type Read, read, submission, toldOf, toldOfObjection } from './messages.ts'
import type { Outcome, Spoken } from './spoken.ts'
import { subjectsOf } from './subjects.ts'

export interface SubmissionParts {
  readonly engine: Pick<Engine, 'enqueue'>
  readonly types: JobTypes
  /** Queues, types and kinds that a tenant may have: whoever submits makes up names. */
  readonly census: Census
  readonly tenant: string
}

const ACTOR = 'producer:bus'

/** All of them in one call; each is accepted or refused by itself. */
export async function submitted(parts: SubmissionParts, messages: readonly Spoken[]): Promise<readonly Outcome[]> {
  const asked = await Promise.all(messages.map((message) => requestOf(parts, message)))
  const requests = asked.flatMap((each) => (each.ok ? [each.value] : []))
  await parts.census.keep()
  const answers = requests.length === 0 ? [] : await parts.engine.enqueue(requests)
  let at = 0
  return asked.map((each) => {
    if (!each.ok) return each
    const answer = answers[at++]
    if (answer === undefined) throw new Error('every request is answered')
    return answer.ok ? { ok: true } : { ok: false, told: toldOf(answer.refusal, each.value.id) }
  })
}

async function requestOf({ types, census, tenant }: SubmissionParts, message: Spoken): Promise<Read<EnqueueRequest>> {
  const said = read(submission, message.text)
  if (!said.ok) return said
  const { job_id, topic } = said.value
  // Compared as it is written: who may publish under a subject says nothing about another, and one that means no name is nobody's.
  if (message.subject !== subjectsOf(tenant).submit(topic))
    return invalid(
      [{ field: 'message.topic', rule: `must be the topic it is published under: ${message.subject} is another's` }],
      job_id,
    )
  const addressed = await addressedBy(types, tenant, topic)
  const named = await types.named({ tenant, type: topic, queue: addressed.queue, policy: addressed.said.policy })
  if (named === undefined) throw new Error('a type in a queue is a kind')
  if (!named.ok) return invalid(named.violations, job_id)
  try {
    await census.admit(named.kind)
  } catch (error) {
    if (error instanceof Objected) return { ok: false, told: toldOfObjection(error, job_id) }
    throw error
  }
  const unsaid = unsaidIn(addressed.said)
  return { ok: true, value: { actor: ACTOR, kind: named.kind, unsaid, input: undefined, ...requested(said.value) } }
}
