/** `GET /jobs/{id}/explain`: why is this job not running? */
import { explain } from '../../core/explain.ts'
import { Queues } from '../../engine/queues.ts'
import { type Handler, json } from '../call.ts'
import { toWire } from '../contract/wire.ts'
import { loaded } from './jobs.ts'

export const explainJob: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  const paused = await new Queues(parts.engine).paused(call.token.tenant, job.spec.kind.queue)
  const workers = await parts.workers.around(job)
  const held = (await parts.engine.whatHolds([job])).get(job.id)
  return json(200, toWire(explain(job, { now: parts.engine.now(), paused, workers, held })) as object)
}
