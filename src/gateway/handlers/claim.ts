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
    const assignments = await engine.claim({
      requestId: requestId === undefined ? `${call.requestId}/${round}` : ownRequest(call.token, requestId),
      workerId,
      lanes,
      limit,
    })
    const leftMs = until - clock.monotonicMs()
    if (assignments.length > 0 || leftMs <= 0) return told(assignments)
    call.leave()
    await wakes.next(Math.min(leftMs, LOOK_EVERY_MS), call.signal)
    // Nobody is there to take what would be found, or who is has been turned away meanwhile: nothing is claimed.
    if (call.signal.aborted) return told([])
    await call.stillWelcome()
  }
}

/**
 * A repeated claim must find the first one's answer, fences and inputs included. Whoever learns or guesses the id of
 * somebody else's claim must not: an id is good for the token that used it first.
 */
const ownRequest = (token: Call['token'], requestId: string): string => `${token.id}/${requestId}`

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
