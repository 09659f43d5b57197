/** Queues: counts from the tally, pauses from the settings. Nothing is scanned. */
import type { z } from 'zod'
import { Queues } from '../../engine/queues.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import { beyond } from '../caps.ts'
import type { pageQuery } from '../contract/queries.ts'
import { timeToWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import { audited } from './audit.ts'

interface Queue {
  readonly queue: string
  readonly paused: boolean
  readonly pausedBy?: string | undefined
  readonly pausedSince?: string | undefined
  /** Since when something of it could be claimed; absent where nothing can. */
  readonly readySince?: string | undefined
  readonly counts: Readonly<Record<string, number>>
}

/** Lanes that are looked at for it, of all tenants. */
const LANES_LOOKED_AT = 2_000

/** Queues in the order of their names; the next page begins behind the last one shown. */
export const listQueues: Handler = async (call, parts) => {
  const { limit, cursor } = call.query as z.output<typeof pageQuery>
  const counted = await countsOf(call, parts)
  const names = [...counted.keys()].filter((name) => cursor === undefined || name > cursor).sort()
  const shown = names.slice(0, limit)
  const { tenant } = call.token
  const [pauses, { backlog }] = await Promise.all([
    new Queues(parts.engine).pausesAmong(tenant, shown),
    parts.engine.events({ by: 'backlog', lanes: LANES_LOOKED_AT }),
  ])
  const queues = shown.map((queue): Queue => {
    const pause = pauses.get(queue)
    const since = Math.min(
      ...backlog.filter((each) => each.tenant === tenant && each.queue === queue).map((b) => b.since),
    )
    return {
      queue,
      paused: pause !== undefined,
      pausedBy: pause?.by,
      pausedSince: pause?.since === undefined ? undefined : timeToWire(pause.since),
      readySince: Number.isFinite(since) ? timeToWire(since) : undefined,
      counts: counted.get(queue) ?? {},
    }
  })
  return json(200, { queues, cursor: names.length > shown.length ? shown.at(-1) : undefined })
}

export const showQueue: Handler = async (call, parts) => {
  const queue = call.params['queue'] ?? ''
  if (call.token.queues !== undefined && !call.token.queues.includes(queue))
    throw new Objected(objection('FORBIDDEN', 'The token is not for this queue.'))
  const paused = (await new Queues(parts.engine).paused(call.token.tenant, queue)) !== undefined
  return json(200, { queue, paused, counts: (await countsOf(call, parts)).get(queue) ?? {} } satisfies Queue)
}

export const pauseQueue: Handler = (call, parts) => setPaused(call, parts, true)
export const resumeQueue: Handler = (call, parts) => setPaused(call, parts, false)

/** How many jobs there are by queue and state, of the token's own tenant and queues. */
async function countsOf({ token }: Call, { engine }: Parts): Promise<ReadonlyMap<string, Record<string, number>>> {
  const found = new Map<string, Record<string, number>>()
  const { tally } = await engine.events({ by: 'tally', tenant: token.tenant })
  for (const { queue, state, count } of tally) {
    if (count === 0 || (token.queues !== undefined && !token.queues.includes(queue))) continue
    const counts = found.get(queue) ?? {}
    counts[state] = (counts[state] ?? 0) + count
    found.set(queue, counts)
  }
  return found
}

async function setPaused(call: Call, parts: Parts, paused: boolean): Promise<Reply> {
  const { token, params } = call
  const queue = params['queue'] ?? ''
  const queues = new Queues(parts.engine)
  const { queuesPerTenant } = parts.caps
  if (
    !(await queues.isKnown(token.tenant, queue)) &&
    (await queues.count(token.tenant, queuesPerTenant)) >= queuesPerTenant
  )
    throw beyond('queuesPerTenant', parts.caps)
  await audited(call, parts, { act: paused ? 'queue.paused' : 'queue.resumed', about: queue })
  if (paused) await queues.pause(token.tenant, queue, `${token.scope}:${token.name}`)
  else await queues.resume(token.tenant, queue)
  return json(200, { queue, paused })
}
