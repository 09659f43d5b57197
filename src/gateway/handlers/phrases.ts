/** With each job of a list the phrase of what it is about: two questions for all of them, however many. */
import type { Circumstances } from '../../core/explain.ts'
import type { Job } from '../../core/job.ts'
import { now } from '../../core/now.ts'
import { Queues } from '../../engine/queues.ts'
import { knows, type SeenWorker, serves } from '../../engine/workers.ts'
import type { Call, Parts } from '../call.ts'
import { toWire } from '../contract/wire.ts'

export async function withPhrases(
  jobs: readonly Job[],
  { token }: Call,
  { engine, workers }: Parts,
  tell: (job: Job) => object,
): Promise<readonly object[]> {
  const queues = [...new Set(jobs.map(({ spec }) => spec.kind.queue))]
  const [pauses, there] = await Promise.all([
    new Queues(engine).pausesAmong(token.tenant, queues),
    // Who is there is a help, and nothing that a list should fail for.
    workers.presentOf(token.tenant).catch(() => undefined),
  ])
  const at = engine.now()
  return jobs.map((job) => {
    const { queue } = job.spec.kind
    const around = { now: at, paused: pauses.get(queue), workers: there && aroundOf(there, job), held: undefined }
    return { ...tell(job), now: toWire(now(job, around)) }
  })
}

function aroundOf(there: readonly SeenWorker[], { spec }: Job): Circumstances['workers'] {
  const { queue, type } = spec.kind
  const serving = there.filter((worker) => serves(worker, queue))
  return {
    serving: serving.length,
    able: serving.filter((worker) => knows(worker, type)).map(({ workerId }) => workerId),
  }
}
