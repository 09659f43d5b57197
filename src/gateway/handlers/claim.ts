/** `POST /claims`: jobs for a worker, at once or as soon as there are any. */
import type { z } from 'zod'
import { COUNTS } from '../../core/limits.ts'
import type { Policy } from '../../core/policy.ts'
import type { Assignment, Engine } from '../../engine/engine.ts'
import type { Lane } from '../../store/store.ts'
import type { Call, Handler, Parts } from '../call.ts'
import type { claims } from '../contract/schemas.ts'
import { jobToWire } from '../contract/wire.ts'
import { listed, pieces } from '../pieces.ts'
import { Objected, objection } from '../problem.ts'

type Claims = z.output<typeof claims>

const PRIORITIES = Array.from({ length: COUNTS.priority.max + 1 }, (_, i) => i)

export const claimJobs: Handler = async (call, parts) => {
  const words = call.body as Claims
  const lanes = lanesOf(call, words)
  const assignments = await (words.waitMs > 0 ? wait(call, parts, words, lanes) : once(call, parts, words, lanes))
  const gone = call.signal.aborted
  if (gone) await handBack(parts.engine, call, assignments)
  return { status: 200, body: pieces(told(gone ? [] : assignments, words.compact)) }
}

const once = ({ token, requestId, signal }: Call, { engine, asks }: Parts, words: Claims, lanes: readonly Lane[]) => {
  const { workerId, limit } = words
  const work = () => engine.claim({ requestId: named(token, words, requestId), workerId, lanes, limit })
  return asks.take({ holder: token, weight: lanes.length, signal, work })
}

async function wait(call: Call, parts: Parts, words: Claims, lanes: readonly Lane[]) {
  const { engine, desk, polls, asks, lanes: waitedFor } = parts
  const { workerId, limit, waitMs } = words
  using _poll = polls.share(call.token, 1)
  using _lanes = waitedFor.share(call.token, lanes.length)
  call.leave()
  return await desk.wait({
    lanes,
    limit,
    ask: (some, n) => {
      const requestId = named(call.token, words, `${call.requestId}/${n}`)
      const work = () => engine.claim({ requestId, workerId, lanes: some, limit })
      return asks.take({ holder: call.token, weight: some.length, work })
    },
    waitMs,
    signal: call.signal,
    stillWelcome: call.stillWelcome,
  })
}

/**
 * A repeated claim must find the first one's answer, fences and inputs included. Whoever learns or guesses the id of
 * somebody else's claim must not: an id is good for the token that used it first.
 */
const named = (token: Call['token'], { requestId }: Claims, own: string): string =>
  requestId === undefined ? own : `${token.id}/${requestId}`

/** Nobody is there to take them: others may have them at once, not when the leases are over. */
async function handBack(engine: Engine, { token, requestId }: Call, assignments: readonly Assignment[]): Promise<void> {
  const actor = `${token.scope}:${token.name}`
  await engine.settle(
    assignments.map(({ job, fence }) => ({
      id: job.id,
      command: { type: 'release', fence, reason: 'handed_back', actor, requestId: `${requestId}/back` },
    })),
  )
}

function lanesOf({ token }: Call, { queues, priorities = PRIORITIES, lanes: wanted }: Claims): readonly Lane[] {
  const lanes = wanted ?? priorities.flatMap((priority) => queues.map((queue) => ({ queue, priority })))
  const foreign = lanes.find(({ queue }) => token.queues !== undefined && !token.queues.includes(queue))
  if (foreign !== undefined) throw new Objected(objection('FORBIDDEN', `The token is not for queue ${foreign.queue}.`))
  return lanes.map(({ queue, priority }) => ({ tenant: token.tenant, queue, priority }))
}

function told(assignments: readonly Assignment[], compact: boolean): Iterator<string> {
  if (!compact) return listed('{"jobs":[', assignments, textOf)
  const policies = new Map<Policy, number>()
  const text = (assignment: Assignment) => compactTextOf(assignment, policies)
  return listed('{"jobs":[', assignments, text, () => `],"policies":${JSON.stringify([...policies.keys()])}}`)
}

function textOf({ job, fence, leaseExpiresAt, input, inputLater }: Assignment): string {
  const head = JSON.stringify({
    job: jobToWire(job, true),
    fence,
    leaseExpiresAt: new Date(leaseExpiresAt).toISOString(),
    inputLater,
  })
  return input === undefined ? head : `${head.slice(0, -1)},"input":${input}}`
}

/** What jobs have in common is most of what is told of them; and an input that comes as text need not be cut out of it. */
function compactTextOf(assignment: Assignment, policies: Map<Policy, number>): string {
  const { job, fence, leaseExpiresAt, input, inputLater } = assignment
  const own = job.spec.kind.policy
  const policy = policies.get(own) ?? policies.size
  policies.set(own, policy)
  return JSON.stringify({
    job: jobToWire(job, false),
    policy,
    fence,
    leaseExpiresAt: new Date(leaseExpiresAt).toISOString(),
    inputLater,
    input,
  })
}
