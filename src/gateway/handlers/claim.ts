/** `POST /claims`: jobs for a worker, at once or as soon as there are any. */
import type { z } from 'zod'
import { COUNTS } from '../../core/limits.ts'
import type { Assignment } from '../../engine/engine.ts'
import type { Lane } from '../../store/store.ts'
import { type Call, type Handler, json } from '../call.ts'
import type { claims } from '../contract/schemas.ts'
import { jobToWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'

/** Hints may be lost: a long poll looks by itself this often. */
const LOOK_EVERY_MS = 1_000
const PRIORITIES = Array.from({ length: COUNTS.priority.max + 1 }, (_, i) => i)

export const claimJobs: Handler = async (call, { engine, wakes, clock }) => {
  const { workerId, queues, limit, waitMs, priorities, requestId, lanes: wanted } = call.body as z.output<typeof claims>
  const lanes = lanesOf(call, queues, priorities ?? PRIORITIES, wanted)
  const until = clock.monotonicMs() + waitMs
  for (let round = 0; ; round += 1) {
    // A repeated claim must find the first one's answer, so the caller's own id is used as it is.
    const assignments = await engine.claim({
      requestId: requestId ?? `${call.requestId}/${round}`,
      workerId,
      lanes,
      limit,
    })
    const leftMs = until - clock.monotonicMs()
    if (assignments.length > 0 || leftMs <= 0 || call.signal.aborted) return told(assignments)
    call.leave()
    await wakes.next(Math.min(leftMs, LOOK_EVERY_MS), call.signal)
  }
}

function lanesOf(
  { token }: Call,
  queues: readonly string[],
  priorities: readonly number[],
  wanted: readonly Pick<Lane, 'queue' | 'priority'>[] | undefined,
): readonly Lane[] {
  const lanes = wanted ?? priorities.flatMap((priority) => queues.map((queue) => ({ queue, priority })))
  const foreign = lanes.find(({ queue }) => token.queues !== undefined && !token.queues.includes(queue))
  if (foreign !== undefined) throw new Objected(objection('FORBIDDEN', `The token is not for queue ${foreign.queue}.`))
  return lanes.map(({ queue, priority }) => ({ tenant: token.tenant, queue, priority }))
}

const told = (assignments: readonly Assignment[]) => {
  const jobs = assignments.map(({ job, fence, leaseExpiresAt, input, inputLater }) => {
    const head = JSON.stringify({
      job: jobToWire(job, true),
      fence,
      leaseExpiresAt: new Date(leaseExpiresAt).toISOString(),
      inputLater,
    })
    return input === undefined ? head : `${head.slice(0, -1)},"input":${input}}`
  })
  return json(200, {}, { jobs: `[${jobs.join(',')}]` })
}
