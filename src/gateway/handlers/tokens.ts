/** Tokens of one's own tenant. The secret is in the answer to its creation, and nowhere else. */
import type { z } from 'zod'
import { parseDuration } from '../../core/duration.ts'
import { type Handler, json } from '../call.ts'
import type { pageQuery } from '../contract/queries.ts'
import type { newToken } from '../contract/token-schema.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import type { Token } from '../token.ts'
import { audited } from './audit.ts'

export const listTokens: Handler = async (call, { tokens }) => {
  const { limit, cursor } = call.query as z.output<typeof pageQuery>
  const page = await tokens.page(call.token.tenant, cursor, limit)
  return json(200, { tokens: page.tokens.map(tokenToWire), cursor: page.cursor })
}

export const createToken: Handler = async (call, parts) => {
  const { name, scope, queues, tenant, expiresIn } = call.body as z.output<typeof newToken>
  if (tenant !== undefined && tenant !== call.token.tenant) throw new Objected(objection('TENANT'))
  if (scope === 'metrics')
    throw new Objected(
      objection(
        'FORBIDDEN',
        'Metrics are of all tenants: make that token where the store is, with `pawl token create`.',
      ),
    )
  if (exceeds(call.token, queues))
    throw new Objected(objection('FORBIDDEN', 'The token is bound to queues: what it makes is bound to some of them.'))
  const id = parts.random.hex64()
  await audited(call, parts, { act: 'token.created', about: id, reason: `${scope} ${name}` })
  const { token, secret } = await parts.tokens.create({
    id,
    name,
    scope,
    queues,
    tenant: call.token.tenant,
    expiresInMs: parseDuration(expiresIn),
  })
  return json(201, { ...tokenToWire(token), secret })
}

export const revokeToken: Handler = async (call, parts) => {
  const id = call.params['token'] ?? ''
  const { tenant } = call.token
  if ((await parts.tokens.find(id, tenant)) === undefined)
    throw new Objected(objection('NO_ROUTE', 'No token has this id.'))
  await audited(call, parts, { act: 'token.revoked', about: id })
  const revoked = await parts.tokens.revoke(id, tenant)
  if (revoked === undefined) throw new Objected(objection('NO_ROUTE', 'No token has this id.'))
  return json(200, tokenToWire(revoked))
}

/** Whether a new token would have queues that its maker's token has not. */
const exceeds = ({ queues: own }: Token, queues: readonly string[] | undefined): boolean =>
  own !== undefined && (queues === undefined || queues.some((queue) => !own.includes(queue)))

const tokenToWire = ({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt, of, as }: Token): object =>
  toWire({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt, of, as }) as object
