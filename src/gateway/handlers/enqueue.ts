/** `POST /jobs`, `POST /jobs:batch`. Inputs are kept exactly as they were sent. */
import type { z } from 'zod'
import { assert } from '../../core/assert.ts'
import type { DuplicatesInput } from '../../core/duplicates.ts'
import { parseDuration } from '../../core/duration.ts'
import { type Kind, PRIORITIES } from '../../core/job.ts'
import { refuse } from '../../core/refuse.ts'
import type { PolicyInput } from '../../core/resolve.ts'
import type { EnqueueAnswer, EnqueueRequest } from '../../engine/engine.ts'
import { unsaidIn } from '../../engine/job-types.ts'
import { parsed } from '../body.ts'
import { mustBeTheirs } from '../bound.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import { TRACEPARENT } from '../contract/fields.ts'
import { newJob, type newJobQuery } from '../contract/schemas.ts'
import { jobToWire } from '../contract/wire.ts'
import { listed, pieces } from '../pieces.ts'
import { Objected, objection, policyObjection, problemOf } from '../problem.ts'
import { priorityOf } from '../words.ts'
import { ended } from './result.ts'

export type NewJob = z.output<typeof newJob>

/** The queue of a job that names none and whose type was not announced. */
const DEFAULT_QUEUE = 'default'

export const createJob: Handler = async (call, parts) => {
  const { wait } = call.query as z.output<typeof newJobQuery>
  const { job, deduped, replayed, effect } = await created(call, parts, call.body as NewJob, wait !== undefined)
  const headers = { Location: `/v1/jobs/${job.id}` }
  if (wait !== undefined) return { ...(await ended({ ...call, params: { id: job.id } }, parts, wait)), headers }
  const status = deduped || replayed ? 200 : 201
  return json(status, { ...jobToWire(job, false), deduped, replayed, effect }, {}, headers)
}

/** Enqueues one job; answers with the new one, or with the one it met. `isAwaited`: its submitter waits for its end. */
export async function created(
  call: Call,
  parts: Parts,
  asked: NewJob,
  isAwaited = false,
): Promise<Extract<EnqueueAnswer, { ok: true }>> {
  const { engine, inFlight } = parts
  const idempotencyKey = keyOf(call, asked)
  const name = idempotencyKey === undefined ? undefined : `${call.token.tenant}\n${idempotencyKey}`
  if (name !== undefined && inFlight.has(name)) throw new Objected(objection('IN_FLIGHT'))
  if (name !== undefined) inFlight.add(name)
  try {
    const newJob = { ...asked, idempotencyKey }
    const request = await requestOf(call, parts, newJob, call.kept.get('input'), isAwaited)
    await parts.census.keep()
    const work = () => engine.enqueue([request])
    const [answer] = await parts.writes.take({ holder: call.token, weight: 1, work })
    if (answer === undefined) throw new Error('no answer')
    if (!answer.ok) throw new Objected(problemOf(answer.refusal))
    return answer
  } finally {
    if (name !== undefined) inFlight.delete(name)
  }
}

export const createJobs: Handler = async (call, parts) => {
  const { engine } = parts
  const jobs = call.body['jobs'] as readonly unknown[]
  const requests: EnqueueRequest[] = []
  const answers: (() => unknown)[] = new Array(jobs.length)
  const places: number[] = []
  for (const [i, job] of jobs.entries()) {
    try {
      const item = parsed(newJob, job, `body.jobs.${i}`) as NewJob
      requests.push(await requestOf(call, parts, item, call.kept.get(`jobs.${i}.input`)))
      places.push(i)
    } catch (error) {
      if (!(error instanceof Objected)) throw error
      const { body } = error.problem
      answers[i] = () => ({ ok: false, problem: body })
    }
  }
  await parts.census.keep()
  const atomic = call.body['atomic'] === true
  // Jobs that come together: one that cannot even be read keeps the others out.
  const work = async () =>
    atomic && requests.length < jobs.length ? others(requests) : engine.enqueue(requests, undefined, atomic)
  const answered = await parts.writes.take({ holder: call.token, weight: requests.length, work })
  for (const [n, place] of places.entries()) answers[place] = () => answerToWire(answered[n] as EnqueueAnswer)
  const refusals = answered.filter(({ ok }) => !ok).length + jobs.length - requests.length
  const body = (head: string) => pieces(listed(`${head}"jobs":[`, answers, (answer) => JSON.stringify(answer())))
  if (!atomic || refusals === 0) return { status: 200, body: body('{') }
  const message = `Of ${jobs.length} jobs that were to come together not all could be accepted: nothing was enqueued.`
  const problem = problemOf(refuse('OTHERS_REFUSED', { command: 'enqueue', message }))
  const head = `${JSON.stringify(problem.body).slice(0, -1)},`
  return { status: problem.status, body: body(head), type: 'application/problem+json' }
}

const others = (requests: readonly EnqueueRequest[]): readonly EnqueueAnswer[] =>
  requests.map(() => ({ ok: false, refusal: refuse('OTHERS_REFUSED', { command: 'enqueue' }) }))

const answerToWire = (answer: EnqueueAnswer): unknown =>
  answer.ok
    ? {
        ok: true,
        deduped: answer.deduped,
        replayed: answer.replayed,
        effect: answer.effect,
        job: jobToWire(answer.job, false),
      }
    : { ok: false, problem: problemOf(answer.refusal).body }

async function requestOf(
  call: Call,
  { types, census }: Parts,
  body: NewJob,
  input: string | undefined,
  isAwaited = false,
): Promise<EnqueueRequest> {
  const { type, queue, priority, delay, runAt, policy, dedupe, ...rest } = body
  const named = await kindOf(call, types, body)
  const kind = isAwaited ? types.synchronous(named) : named
  mustBeTheirs(call, kind.queue, body.flow)
  await census.admit(kind)
  return {
    ...rest,
    actor: `producer:${call.token.name}`,
    kind,
    unsaid: unsaidIn(sharedOf(body)),
    priority: priorityOf(priority) ?? PRIORITIES.normal,
    input,
    delayMs: parseDuration(delay),
    runAt: runAt === undefined ? undefined : Date.parse(runAt),
    traceparent: body.traceparent ?? traceparentOf(call),
  }
}

async function kindOf({ token }: Call, types: Parts['types'], body: NewJob): Promise<Kind> {
  const wanted = {
    tenant: token.tenant,
    type: body.type,
    dedupe: body.dedupe as DuplicatesInput | undefined,
    ...sharedOf(body),
  }
  const named = (await types.named(wanted)) ?? (await types.named({ ...wanted, queue: DEFAULT_QUEUE }))
  assert(named !== undefined, 'a type in a queue is a kind')
  if (!named.ok) throw policyObjection(named.violations)
  return named.kind
}

const sharedOf = ({ queue, policy }: NewJob) => ({ queue, policy: policy as PolicyInput | undefined })

/** A Structured Field string, hence quoted; unquoted is taken too. The body may say it instead. */
function keyOf({ headers }: Call, { idempotencyKey }: NewJob): string | undefined {
  const header = headers.get('idempotency-key')
  if (header === null) return idempotencyKey
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header.trim())
  const key = quoted === null ? header.trim() : (quoted[1] as string).replaceAll(/\\(["\\])/g, '$1')
  if (key === '' || key.length > 255 || (quoted === null && key.startsWith('"'))) {
    throw new Objected(objection('MALFORMED', 'Idempotency-Key is 1 to 255 characters, in double quotes.'))
  }
  if (idempotencyKey !== undefined && idempotencyKey !== key) {
    throw new Objected(objection('MALFORMED', 'The header Idempotency-Key and the body name different keys.'))
  }
  return key
}

export function traceparentOf({ headers }: Call): string | undefined {
  const header = headers.get('traceparent')
  return header !== null && TRACEPARENT.test(header) ? header : undefined
}
