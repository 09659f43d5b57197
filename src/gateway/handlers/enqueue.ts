/** `POST /jobs`, `POST /jobs:batch`. Inputs are kept exactly as they were sent. */
import type { z } from 'zod'
import { parseDuration } from '../../core/duration.ts'
import { type Kind, PRIORITIES } from '../../core/job.ts'
import { type PolicyInput, resolvePolicy } from '../../core/resolve.ts'
import type { EnqueueAnswer, EnqueueRequest } from '../../engine/engine.ts'
import { parsed } from '../body.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import { newJob, TRACEPARENT } from '../contract/schemas.ts'
import { jobToWire } from '../contract/wire.ts'
import { Objected, objection, refused } from '../problem.ts'
import { priorityOf } from '../words.ts'

type NewJob = z.output<typeof newJob>

/** Requests under way by (tenant, key): a second one with the same key does not wait, it is told. */
const inFlight = new Set<string>()

export const createJob: Handler = async (call, parts) => {
  const { engine } = parts
  const idempotencyKey = keyOf(call)
  const name = idempotencyKey === undefined ? undefined : `${call.token.tenant}\n${idempotencyKey}`
  if (name !== undefined && inFlight.has(name)) throw new Objected(objection('IN_FLIGHT'))
  if (name !== undefined) inFlight.add(name)
  try {
    const request = await requestOf(call, parts, call.body as NewJob, call.kept.get('input'), idempotencyKey)
    const work = () => engine.enqueue([request])
    const [answer] = await parts.writes.take({ token: call.token.id, weight: 1, work })
    if (answer === undefined) throw new Error('no answer')
    if (!answer.ok) {
      const reused = answer.refusal.code === 'ID_TAKEN' && idempotencyKey !== undefined && request.id === undefined
      throw new Objected(reused ? objection('KEY_REUSED', answer.refusal.message) : refused(answer.refusal))
    }
    const { job, deduped, replayed } = answer
    const status = deduped || replayed ? 200 : 201
    return json(status, { ...jobToWire(job, false), deduped, replayed }, {}, { Location: `/v1/jobs/${job.id}` })
  } finally {
    if (name !== undefined) inFlight.delete(name)
  }
}

export const createJobs: Handler = async (call, parts) => {
  const { engine } = parts
  const jobs = call.body['jobs'] as readonly unknown[]
  const requests: EnqueueRequest[] = []
  const answers: unknown[] = new Array(jobs.length)
  const places: number[] = []
  for (const [i, job] of jobs.entries()) {
    try {
      const words = parsed(newJob, job, `body.jobs.${i}`) as NewJob
      requests.push(await requestOf(call, parts, words, call.kept.get(`jobs.${i}.input`), undefined))
      places.push(i)
    } catch (error) {
      if (!(error instanceof Objected)) throw error
      answers[i] = { ok: false, problem: error.problem.body }
    }
  }
  const work = () => engine.enqueue(requests)
  const given = await parts.writes.take({ token: call.token.id, weight: requests.length, work })
  for (const [n, place] of places.entries()) answers[place] = told(given[n] as EnqueueAnswer)
  return json(200, { jobs: answers })
}

const told = (answer: EnqueueAnswer): unknown =>
  answer.ok
    ? { ok: true, deduped: answer.deduped, replayed: answer.replayed, job: jobToWire(answer.job, false) }
    : { ok: false, problem: refused(answer.refusal).body }

async function requestOf(
  call: Call,
  { types, census }: Parts,
  body: NewJob,
  input: string | undefined,
  idempotencyKey: string | undefined,
): Promise<EnqueueRequest> {
  const { type, queue, priority, delay, runAt, policy, ...rest } = body
  const { tenant } = call.token
  const announced = queue === undefined && policy === undefined ? await types.kind(tenant, type) : undefined
  const kind = announced ?? kindOf(tenant, queue ?? 'default', type, policy)
  await census.admit(kind)
  return {
    ...rest,
    actor: `producer:${call.token.name}`,
    kind,
    priority: priorityOf(priority) ?? PRIORITIES.normal,
    input,
    delayMs: parseDuration(delay),
    runAt: runAt === undefined ? undefined : Date.parse(runAt),
    idempotencyKey,
    traceparent: body.traceparent ?? traceparentOf(call),
  }
}

/** Policies repeat from call to call: resolved once, shared by reference. */
const policies = new Map<string, ReturnType<typeof resolvePolicy>>()
const MOST_POLICIES = 1_000

function kindOf(tenant: string, queue: string, type: string, words: NewJob['policy']): Kind {
  const name = words === undefined ? '' : JSON.stringify(words)
  const resolved = policies.get(name) ?? resolvePolicy((words ?? {}) as PolicyInput)
  if (!resolved.ok) {
    const violations = resolved.violations.map(({ field, rule }) => ({ field: `policy.${field}`, rule }))
    throw new Objected(objection('MALFORMED', 'The policy breaks a rule.', violations))
  }
  if (policies.size < MOST_POLICIES) policies.set(name, resolved)
  return { tenant, queue, type, policy: resolved.policy }
}

/** A Structured Field string, hence quoted; unquoted is taken too. */
function keyOf({ headers }: Call): string | undefined {
  const header = headers.get('idempotency-key')
  if (header === null) return undefined
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header.trim())
  const key = quoted === null ? header.trim() : (quoted[1] as string).replaceAll(/\\(["\\])/g, '$1')
  if (key === '' || key.length > 255 || (quoted === null && key.startsWith('"'))) {
    throw new Objected(objection('MALFORMED', 'Idempotency-Key is 1 to 255 characters, in double quotes.'))
  }
  return key
}

export function traceparentOf({ headers }: Call): string | undefined {
  const header = headers.get('traceparent')
  return header !== null && TRACEPARENT.test(header) ? header : undefined
}
