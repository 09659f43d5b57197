/** Queues: counts from the tally, pauses from the settings. Nothing is scanned. */
import { Queues } from '../../engine/queues.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import { Objected, objection } from '../problem.ts'

interface Queue {
  readonly queue: string
  paused: boolean
  readonly counts: Record<string, number>
}

export const listQueues: Handler = async (call, parts) =>
  json(200, { queues: [...(await queues(call, parts)).values()] })

export const showQueue: Handler = async (call, parts) => {
  const name = call.params['queue'] ?? ''
  if (call.token.queues !== undefined && !call.token.queues.includes(name))
    throw new Objected(objection('FORBIDDEN', 'The token is not for this queue.'))
  const found = (await queues(call, parts)).get(name) ?? {
    queue: name,
    paused: await isPaused(call, parts, name),
    counts: {},
  }
  return json(200, found)
}

export const pauseQueue: Handler = (call, parts) => setPaused(call, parts, true)
export const resumeQueue: Handler = (call, parts) => setPaused(call, parts, false)

async function queues(call: Call, parts: Parts): Promise<ReadonlyMap<string, Queue>> {
  const { tenant } = call.token
  const found = new Map<string, Queue>()
  const { tally } = await parts.engine.events({ by: 'tally' })
  for (const { tenant: theirs, queue, state, count } of tally) {
    if (theirs !== tenant || count === 0 || (call.token.queues !== undefined && !call.token.queues.includes(queue)))
      continue
    const entry = found.get(queue) ?? { queue, paused: false, counts: {} }
    entry.counts[state] = (entry.counts[state] ?? 0) + count
    found.set(queue, entry)
  }
  for (const entry of found.values()) entry.paused = await isPaused(call, parts, entry.queue)
  return found
}

async function setPaused(call: Call, { engine }: Parts, paused: boolean): Promise<Reply> {
  const { token, params } = call
  const queue = params['queue'] ?? ''
  const queues = new Queues(engine)
  if (paused) await queues.pause(token.tenant, queue, `${token.scope}:${token.name}`)
  else await queues.resume(token.tenant, queue)
  return json(200, { queue, paused })
}

const isPaused = async ({ token }: Call, { engine }: Parts, queue: string): Promise<boolean> =>
  (await new Queues(engine).paused(token.tenant, queue)) !== undefined
