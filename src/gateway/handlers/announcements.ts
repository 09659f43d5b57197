/** Job types, as the workers that run them have announced them. */
import type { z } from 'zod'
import { type PolicyInput, resolvePolicy } from '../../core/resolve.ts'
import type { Announcement } from '../../engine/job-types.ts'
import { type Call, type Handler, json } from '../call.ts'
import { beyond } from '../caps.ts'
import type { announcement } from '../contract/schemas.ts'
import { Objected, objection, policyObjection } from '../problem.ts'

export const showType: Handler = async (call, { types }) => {
  const type = call.params['type'] ?? ''
  const kind = await types.kind(call.token.tenant, type)
  if (kind === undefined) throw new Objected(objection('NO_ROUTE', 'No worker has announced this type.'))
  const inputSchema = await types.inputSchema(call.token.tenant, type)
  return json(200, { type, queue: kind.queue, policy: kind.policy, inputSchema })
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
  const inputSchema = schemaIn(call)
  const isNew = (await types.kind(tenant, type)) === undefined
  // The census forgets a type that has no jobs; what was announced stays.
  if (isNew && !(await typeCount.letsIn(tenant))) throw beyond('typesPerTenant', caps)
  await census.admit(kind)
  await census.keep()
  await types.announce([{ ...kind, inputSchema }])
  return json(200, { type, queue, policy: resolved.policy, inputSchema })
}

/** Letters of a JSON Schema: it is understood here, and told with every answer about the type. */
const SCHEMA_MOST = 32 * 1024

function schemaIn({ kept }: Call): Announcement['inputSchema'] {
  const text = kept.get('inputSchema')
  if (text === undefined) return undefined
  if (text.length > SCHEMA_MOST || !text.startsWith('{'))
    throw new Objected(
      objection('MALFORMED', 'The schema cannot be kept.', [
        { field: 'body.inputSchema', rule: `must be an object of JSON Schema with at most ${SCHEMA_MOST} letters` },
      ]),
    )
  return JSON.parse(text) as Announcement['inputSchema']
}
