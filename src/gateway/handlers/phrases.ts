/** With each job of a list the phrase of what it is about, and how often it may fail: three questions for all of them, however many. */
import { maxAttemptsOf } from '../../core/admission.ts'
import type { Circumstances } from '../../core/explain.ts'
import type { Job } from '../../core/job.ts'
import { isRouted, needOf } from '../../core/needs.ts'
import { now } from '../../core/now.ts'
import { Queues } from '../../engine/queues.ts'
import { namedBy, routedTo, type SeenWorker } from '../../engine/workers.ts'
import type { Call, Parts } from '../call.ts'
import { toWire } from '../contract/wire.ts'

export async function withPhrases(
  jobs: readonly Job[],
  { token }: Call,
  { engine, workers }: Parts,
  tell: (job: Job) => object,
): Promise<readonly object[]> {
  const queues = [...new Set(jobs.map(({ spec }) => spec.kind.queue))]
  const [pauses, held, there] = await Promise.all([
    new Queues(engine).pausesAmong(token.tenant, queues),
    engine.whatHolds(jobs),
    // Who is there is a help, and nothing that a list should fail for.
    workers.presentOf(token.tenant).catch(() => undefined),
  ])
  const at = engine.now()
  const around = there && surroundings(there, jobs)
  return jobs.map((job) => {
    const { queue } = job.spec.kind
    const circumstances = { now: at, paused: pauses.get(queue), workers: around?.(job), held: held.get(job.id) }
    return { ...tell(job), now: toWire(now(job, circumstances)), maxAttempts: maxAttemptsOf(job) }
  })
}

/**
 * Who is there for each of these jobs. Two thousand workers may name two thousand types each, and a page has five hundred
 * jobs: each list is gone through once, for all of them.
 */
function surroundings(
  there: readonly SeenWorker[],
  jobs: readonly Job[],
): (job: Job) => NonNullable<Circumstances['workers']> {
  const queues = new Set(jobs.map(({ spec }) => spec.kind.queue))
  const types = new Set(jobs.map(({ spec }) => spec.kind.type))
  const workers = there.map((worker) => ({
    worker,
    queues: namedBy(worker, 'queues', queues) ?? NONE,
    // One that does not tell knows all of them.
    types: namedBy(worker, 'types', types) ?? types,
  }))
  const found = new Map<string, NonNullable<Circumstances['workers']>>()
  return ({ spec: { kind }, needs }) => {
    const name = JSON.stringify([kind.queue, kind.type, needs])
    const known = found.get(name)
    if (known !== undefined) return known
    const need = needOf(needs)
    const { fit, routed } = isRouted(need) ? routedTo(need, there) : { fit: there, routed: undefined }
    const among = new Set(fit)
    const serving = workers.filter(({ worker, queues: own }) => own.has(kind.queue) && among.has(worker))
    const able = serving.filter(({ types: own }) => own.has(kind.type)).map(({ worker }) => worker.workerId)
    const around = { routed, serving: serving.length, able }
    found.set(name, around)
    return around
  }
}

const NONE: ReadonlySet<string> = new Set()
