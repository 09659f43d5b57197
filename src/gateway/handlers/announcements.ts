/** Job types, as the workers that run them have announced them. */
import type { z } from 'zod'
import { type PolicyInput, resolvePolicy } from '../../core/resolve.ts'
import { type Handler, json } from '../call.ts'
import { beyond } from '../caps.ts'
import type { announcement } from '../contract/schemas.ts'
import { Objected, objection, policyObjection } from '../problem.ts'

export const showType: Handler = async (call, { types }) => {
  const type = call.params['type'] ?? ''
  const kind = await types.kind(call.token.tenant, type)
  if (kind === undefined) throw new Objected(objection('NO_ROUTE', 'No worker has announced this type.'))
  return json(200, { type, queue: kind.queue, policy: kind.policy })
}

export const announceType: Handler = async (call, { types, typeCount, census, caps }) => {
  const { queue, policy } = call.body as z.output<typeof announcement>
  const { tenant, queues } = call.token
  if (queues !== undefined && !queues.includes(queue))
    throw new Objected(objection('FORBIDDEN', 'The token is not for this queue.'))
  const resolved = resolvePolicy((policy ?? {}) as PolicyInput)
  if (!resolved.ok) throw policyObjection(resolved.violations)
  const type = call.params['type'] ?? ''
  const kind = { tenant, type, queue, policy: resolved.policy }
  const isNew = (await types.kind(tenant, type)) === undefined
  // The census forgets a type that has no jobs; what was announced stays.
  if (isNew && !(await typeCount.letsIn(tenant))) throw beyond('typesPerTenant', caps)
  await census.admit(kind)
  await census.keep()
  await types.announce([kind])
  return json(200, { type, queue, policy: resolved.policy })
}
