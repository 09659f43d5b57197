/** Tokens of one's own tenant. The secret is in the answer to its creation, and nowhere else. */
import type { z } from 'zod'
import { parseDuration } from '../../core/duration.ts'
import { type Handler, json } from '../call.ts'
import type { newToken } from '../contract/schemas.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import type { Token } from '../token.ts'

export const listTokens: Handler = async (call, { tokens }) =>
  json(200, { tokens: (await tokens.list(call.token.tenant)).map(told) })

export const createToken: Handler = async (call, { tokens }) => {
  const { name, scope, queues, tenant, expiresIn } = call.body as z.output<typeof newToken>
  if (tenant !== undefined && tenant !== call.token.tenant) throw new Objected(objection('TENANT'))
  const { token, secret } = await tokens.create({
    name,
    scope,
    queues,
    tenant: call.token.tenant,
    expiresInMs: parseDuration(expiresIn),
  })
  return json(201, { ...told(token), secret })
}

export const revokeToken: Handler = async (call, { tokens }) => {
  const revoked = await tokens.revoke(call.params['token'] ?? '', call.token.tenant)
  if (revoked === undefined) throw new Objected(objection('NO_ROUTE', 'No token has this id.'))
  return json(200, told(revoked))
}

const told = ({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt }: Token): object =>
  toWire({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt }) as object
