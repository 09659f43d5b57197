/**
 * `/v1/dialects/002`: document 002 walked in its own words. Each handler translates and hands on; who may say what, and what
 * becomes of it, is what the same word comes to under pawl's own name.
 */
import type { z } from 'zod'
import type { Unstamped } from '../../core/command.ts'
import { asRequested, requested, requestName } from '../../core/dialects/job-request.ts'
import { commandOfResult, lateResultOf } from '../../core/dialects/job-result.ts'
import type { Job } from '../../core/job.ts'
import type { Word } from '../../engine/engine.ts'
import { logOf } from '../../engine/log-of.ts'
import { namedByStart } from '../../engine/named-by-start.ts'
import { addressedBy } from '../../engine/topic.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import type {
  cancelled,
  denied,
  dispatches,
  jobRequest,
  jobResult,
  running,
  scheduled,
} from '../contract/document-002.ts'
import type { historyQuery } from '../contract/queries.ts'
import type { WordName } from '../contract/schemas.ts'
import { jobFor } from '../masking.ts'
import { Objected, objection } from '../problem.ts'
import type { Speaker } from '../words.ts'
import { claimed } from './claim.ts'
import { created, type NewJob } from './enqueue.ts'
import { historyOf, lateWordsOf, loaded } from './jobs.ts'
import { spoken } from './settle.ts'

export const submit002: Handler = async (call, parts) => {
  const newJob = await newJobOf(call, parts, call.body as z.output<typeof jobRequest>)
  const { job, deduped, replayed } = await created(call, parts, newJob)
  const headers = { Location: `/v1/dialects/002/jobs/${encodeURIComponent(requestName(job))}` }
  return json(deduped || replayed ? 200 : 201, await inItsWords(call, parts, job), {}, headers)
}

export const show002: Handler = async (call, parts) =>
  json(200, await inItsWords(call, parts, (await loaded(call, parts, [])).job))

export const states002: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  const query = call.query as z.output<typeof historyQuery>
  const { events, next } = await historyOf(call, parts, job, { ...query, dialect: '002' })
  return json(200, { states: events.map((entry) => ({ ...entry, job_id: requestName(job) })), next })
}

export const results002: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  const words = await lateWordsOf(call, parts, job)
  const log = words.length === 0 ? [] : await logOf(parts.engine, job.id)
  const late = words.map((word) => lateResultOf(word, log)).filter((result) => result !== undefined)
  const job_id = requestName(job)
  const { JobResult } = await inItsWords(call, parts, job)
  return json(200, {
    JobResult,
    late: late.map((result) => ({ job_id, ...result })),
  })
}

export const schedule002: Handler = (call, parts) => {
  const { rule, policy_hash: policyHash } = call.body as z.output<typeof scheduled>
  return moved(call, parts, 'admit', { type: 'admit', rule, policyHash })
}

export const deny002: Handler = (call, parts) => {
  const { rule, policy_hash: policyHash, reason } = call.body as z.output<typeof denied>
  return moved(call, parts, 'deny', { type: 'deny', rule, policyHash, reason })
}

export const dispatch002: Handler = async (call, parts) => {
  const { worker_id, topics, pool, capabilities, limit, wait_ms: waitMs } = call.body as z.output<typeof dispatches>
  const queues = await Promise.all(
    topics.map(async (topic) => (await addressedBy(parts.types, call.token.tenant, topic)).queue),
  )
  const able = { pool, capabilities }
  const asked = { workerId: worker_id, queues: [...new Set(queues)], ...able, limit, waitMs, compact: false }
  const { found } = await claimed(call, parts, asked)
  return json(200, {
    dispatches: found.map(({ job, fence, leaseExpiresAt }) => ({
      ...asRequested(jobFor(call, job)),
      fence,
      lease_expires_at: new Date(leaseExpiresAt).toISOString(),
    })),
  })
}

export const run002: Handler = (call, parts) => {
  const { fence } = call.body as z.output<typeof running>
  return moved(call, parts, 'start', { type: 'start', fence })
}

export const result002: Handler = async (call, parts) => {
  const result = call.body as z.output<typeof jobResult>
  const { job } = await loaded(call, parts, [])
  if (result.job_id !== undefined && result.job_id !== job.id && result.job_id !== job.spec.alias)
    throw new Objected(
      objection('MALFORMED', 'The JobResult is another job’s.', [
        { field: 'body.job_id', rule: `must match the request: ${requestName(job)}` },
      ]),
    )
  const command = commandOfResult(result)
  return await moved(call, parts, command.type === 'deadLetter' ? 'deadletter' : command.type, command)
}

/** Cancels hard: a worker that still has the job finds out by its next word. */
export const cancel002: Handler = (call, parts) => {
  const { reason } = call.body as z.output<typeof cancelled>
  return moved(call, parts, 'cancel', { type: 'cancel', mode: 'hard', reason })
}

async function moved(call: Call, parts: Parts, name: WordName, command: Unstamped<Word['command']>) {
  await spoken(call, parts, name, (id, { actor, tenant, requestId, traceparent }: Speaker) => ({
    id,
    tenant,
    command: { ...command, actor, requestId, traceparent },
  }))
  return json(200, await inItsWords(call, parts, (await loaded(call, parts, [])).job))
}

async function newJobOf(call: Call, { types }: Parts, request: z.output<typeof jobRequest>): Promise<NewJob> {
  const { said } = await addressedBy(types, call.token.tenant, request.topic)
  return { type: request.topic, ...(said as Partial<NewJob>), ...requested(request) }
}

const inItsWords = async (call: Call, { engine }: Parts, job: Job) =>
  asRequested(jobFor(call, await namedByStart(engine, job)))
