import { isNamedByStart, namedBy } from '../core/dialects/worker-name.ts'
import type { Job } from '../core/job.ts'
import type { Engine } from './engine.ts'
import { logOf } from './log-of.ts'

/** A job as documents are told it: where a pool had it, the worker is whose start is in its log. */
export const namedByStart = async (engine: Pick<Engine, 'events'>, job: Job): Promise<Job> =>
  isNamedByStart(job) ? namedBy(job, await logOf(engine, job.id)) : job
