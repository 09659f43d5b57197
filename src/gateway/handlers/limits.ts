/** Limit keys of one's own tenant: what is set for them, and what was learnt about the other side. */
import type { z } from 'zod'
import { resolveByHand } from '../../core/flow/limit-input.ts'
import type { Violation } from '../../core/refusal.ts'
import type { ActName } from '../../engine/audit.ts'
import type { KeyWord } from '../../engine/engine.ts'
import { mustBeUnbound } from '../bound.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import type { limitsQuery } from '../contract/limit-schema.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import { audited } from './audit.ts'

export const listLimits: Handler = async (call, { engine }) => {
  mustBeFree(call)
  const { limit, cursor, state: states } = call.query as z.output<typeof limitsQuery>
  const page = await engine.limits({ tenant: call.token.tenant, limit, cursor, states })
  // Changes of a key are told with the key alone.
  const limits = page.limits.map(({ log: _, ...rest }) => toWire(rest))
  return json(200, { limits, cursor: page.cursor })
}

export const showLimit: Handler = async (call, { engine }) => {
  mustBeFree(call)
  const key = keyIn(call)
  const { limits } = await engine.limits({ tenant: call.token.tenant, names: [key], limit: 1 })
  const [status] = limits
  if (status === undefined) throw missing(key)
  return json(200, toWire(status) as object)
}

export const setLimit: Handler = (call, parts) => {
  const found: Violation[] = []
  const limit = resolveByHand(call.body, 'body', found)
  if (found.length > 0) throw new Objected(objection('MALFORMED', 'The limit cannot be kept.', found))
  return said(call, parts, 'limit.set', { type: 'set', limit })
}

export const removeLimit: Handler = (call, parts) => said(call, parts, 'limit.removed', { type: 'unset' })
export const resetLimit: Handler = (call, parts) => said(call, parts, 'limit.reset', { type: 'reset' })
export const probeLimit: Handler = (call, parts) => said(call, parts, 'limit.probed', { type: 'probe' })

async function said(call: Call, parts: Parts, act: ActName, ask: KeyWord['ask']): Promise<Reply> {
  const { token, requestId } = call
  mustBeFree(call)
  const key = keyIn(call)
  await audited(call, parts, { act, about: key })
  const actor = `${token.scope}:${token.name}`
  const [status] = await parts.engine.sayToLimits([{ tenant: token.tenant, key, actor, requestId, ask }])
  if (status === undefined) throw missing(key)
  return json(200, toWire(status) as object)
}

/** A key is shared by all queues that its jobs are in: its name, its numbers and who was pushed back tell of the others, too. */
const mustBeFree = (call: Call): void => mustBeUnbound(call, 'a limit', ': `explain` says what holds a job')

const keyIn = ({ params }: Call): string => params['key'] ?? ''

const missing = (key: string): Objected => new Objected(objection('NO_ROUTE', `There is no limit key ${key}.`))
