/** `POST /claims`: jobs for a worker, at once or as soon as there are any. */
import type { z } from 'zod'
import { isReturnable } from '../../core/dialects/bond.ts'
import { EVERY_PRIORITY } from '../../core/job.ts'
import type { Policy } from '../../core/policy.ts'
import type { Assignment, ClaimRequest, Engine } from '../../engine/engine.ts'
import type { Lane } from '../../store/store.ts'
import type { Call, Handler, Parts } from '../call.ts'
import type { claims } from '../contract/schemas.ts'
import { jobToWire } from '../contract/wire.ts'
import { listed, pieces } from '../pieces.ts'
import { Objected, objection } from '../problem.ts'

type Claims = z.output<typeof claims>

export const claimJobs: Handler = async (call, parts) => {
  const request = call.body as Claims
  const { found, beforeMs } = await claimed(call, parts, request)
  return { status: 200, body: pieces(claimText(found, beforeMs, request.compact)) }
}

interface Claimed {
  readonly found: readonly Assignment[]
  /** Milliseconds that had passed when the engine was asked. */
  readonly beforeMs: number
}

export async function claimed(call: Call, parts: Parts, asked: Claims): Promise<Claimed> {
  const { token, signal } = call
  const { workerId, serves, pool, capabilities, limit, limited, waitMs } = asked
  const lanes = lanesOf(call, asked)
  const able = { serves, pool, capabilities }
  const request = { requestId: named(token, asked, call.requestId), workerId, lanes, ...able, limit, limited, signal }
  const isPoll = waitMs > 0
  using _poll = parts.polls.share(token, isPoll ? 1 : 0)
  using _lanes = parts.lanes.share(token, isPoll ? lanes.length : 0)
  if (isPoll) call.leave()
  // The first look is made in its token's turn. A poll that finds nothing waits without a turn, in one of a bounded number of places.
  let askedMs = 0
  const work = () => {
    askedMs = parts.clock.monotonicMs()
    return parts.engine.claim(request)
  }
  let found = await parts.asks.take({ holder: token, weight: lanes.length, signal, work })
  if (found.length === 0 && isPoll) {
    askedMs = parts.clock.monotonicMs()
    found = await wait(call, parts, { ...request, waitMs })
  }
  const gone = signal.aborted
  if (gone) await handBack(parts.engine, call, found)
  return { found: gone ? [] : found, beforeMs: askedMs - call.cameMs }
}

/** Waits in the engine; until it is answered, the caller has gone, its token is not good any more, or the gateway ends. */
async function wait(call: Call, parts: Parts, request: ClaimRequest): Promise<readonly Assignment[]> {
  const { engine, timers, ending } = parts
  const calledOff = new AbortController()
  const callOff = () => calledOff.abort()
  let timer: Disposable | undefined
  const lookAtToken = () => {
    if (calledOff.signal.aborted) return
    timer = timers.after(WELCOME_EVERY_MS, () => void call.stillWelcome().then(lookAtToken, callOff))
  }
  call.signal.addEventListener('abort', callOff)
  ending.addEventListener('abort', callOff)
  if (call.signal.aborted || ending.aborted) callOff()
  lookAtToken()
  try {
    const assignments = await engine.claim({ ...request, signal: calledOff.signal })
    await welcomed(call, engine, assignments)
    return assignments
  } finally {
    callOff()
    timer?.[Symbol.dispose]()
    call.signal.removeEventListener('abort', callOff)
    ending.removeEventListener('abort', callOff)
  }
}

/** Objects where the token is not good any more; what it was given meanwhile is released. */
async function welcomed(call: Call, engine: Engine, assignments: readonly Assignment[]): Promise<void> {
  try {
    await call.stillWelcome()
  } catch (error) {
    await handBack(engine, call, assignments)
    throw error
  }
}

/**
 * Releases jobs whose caller is gone, so that other workers have them at once, and not when their leases end. Those whose
 * document knows no release are left to their leases: nobody could be told of the refusal.
 */
async function handBack(engine: Engine, { token, requestId }: Call, assignments: readonly Assignment[]): Promise<void> {
  const actor = `${token.scope}:${token.name}`
  const returnable = assignments.filter(({ job }) => isReturnable(job.spec.kind.policy))
  if (returnable.length === 0) return
  await engine.settle(
    returnable.map(({ job, fence }) => ({
      id: job.id,
      command: { type: 'release', fence, reason: 'handed_back', actor, requestId: `${requestId}/back` },
    })),
  )
}

/** How soon a token that is revoked ends its long polls. */
const WELCOME_EVERY_MS = 1_000

/**
 * A repeated claim must find the first one's answer, fences and inputs included. A caller that learns or guesses the id of
 * another's claim must not: an id is good for the token that used it first.
 */
const named = (token: Call['token'], { requestId }: Claims, own: string): string =>
  requestId === undefined ? own : `${token.id}/${requestId}`

function lanesOf({ token }: Call, { queues, priorities: some, lanes: wanted }: Claims): readonly Lane[] {
  const priorities = some ?? EVERY_PRIORITY
  const lanes = wanted ?? priorities.flatMap((priority) => queues.map((queue) => ({ queue, priority })))
  const foreign = lanes.find(({ queue }) => token.queues !== undefined && !token.queues.includes(queue))
  if (foreign !== undefined) throw new Objected(objection('FORBIDDEN', `The token is not for queue ${foreign.queue}.`))
  return lanes.map(({ queue, priority }) => ({ tenant: token.tenant, queue, priority }))
}

/** `beforeMs`: what had passed when the engine was asked. */
function claimText(assignments: readonly Assignment[], beforeMs: number, compact: boolean): Iterator<string> {
  if (!compact) return listed('{"jobs":[', assignments, textOf)
  const policies = new Map<Policy, number>()
  const text = (assignment: Assignment) => compactTextOf(assignment, beforeMs, policies)
  return listed('{"jobs":[', assignments, text, () => `],"policies":${JSON.stringify([...policies.keys()])}}`)
}

function textOf({ job, fence, leaseExpiresAt, input, inputLater, flow }: Assignment): string {
  const head = JSON.stringify({
    job: jobToWire(job, true),
    fence,
    leaseExpiresAt: new Date(leaseExpiresAt).toISOString(),
    inputLater,
    flow,
  })
  return input === undefined ? head : `${head.slice(0, -1)},"input":${input}}`
}

/** A job without its policy, which most have in common and which is told once, and with its input as text, which need not be cut out again. */
function compactTextOf(assignment: Assignment, beforeMs: number, policies: Map<Policy, number>): string {
  const { job, fence, leaseExpiresAt, input, inputLater, waitedMs = 0, flow } = assignment
  const own = job.spec.kind.policy
  const policy = policies.get(own) ?? policies.size
  policies.set(own, policy)
  return JSON.stringify({
    job: jobToWire(job, false),
    policy,
    fence,
    leaseExpiresAt: new Date(leaseExpiresAt).toISOString(),
    inputLater,
    waitedMs: Math.floor(beforeMs + waitedMs),
    input,
    flow,
  })
}
