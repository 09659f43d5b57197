/** `/session`: who somebody is, and how a browser gets to be somebody. */
import { type Call, type Handler, json } from '../call.ts'
import type { Route } from '../contract/route.ts'
import { ROUTES } from '../contract/routes.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import { cookieFor, csrfOf, openSession, sessionIn } from '../session.ts'
import type { Token } from '../token.ts'

export const showSession: Handler = async (call, { basePath, dashboard }) => {
  const secret = sessionIn(call)
  const csrf = isSession(call.token) ? csrfOf(secret ?? '') : undefined
  return json(200, { ...told(call.token), csrf, basePath, dashboard })
}

export const createSession: Handler = async (call, parts) => {
  const { tokens, engine, basePath, dashboard } = parts
  const { token } = call
  if (!isStored(token))
    throw new Objected(objection('FORBIDDEN', 'Whoever is let in without a token needs no session.'))
  if (isSession(token)) throw new Objected(objection('FORBIDDEN', 'A session makes no other: sign in with a token.'))
  if (isLink(token) && !(await tokens.remove(token)))
    throw new Objected(objection('UNAUTHENTICATED', 'This link has been used.'))
  const secret = await openSession(tokens, token, engine.now())
  if (secret === undefined) throw new Objected(objection('UNAUTHENTICATED'))
  const headers = { 'Set-Cookie': cookieFor(call.url, basePath, isSecure(call), secret) }
  return json(201, { ...told(token), csrf: csrfOf(secret), basePath, dashboard }, {}, headers)
}

/** The cookie goes, and what it was good for. */
export const endSession: Handler = async (call, { tokens, basePath }) => {
  if (isSession(call.token)) await tokens.remove(call.token)
  return json(200, {}, {}, { 'Set-Cookie': cookieFor(call.url, basePath, isSecure(call), undefined) })
}

function told(token: Token): object {
  const { name, scope, tenant, queues, expiresAt } = token
  const by = isStored(token) ? (token.as === undefined ? 'token' : 'session') : 'host'
  const actor = `${scope}:${name}`
  return toWire({ name, scope, actor, tenant, queues, expiresAt, by, may: mayCall(token) }) as object
}

/** The routes it is let in by: what a page shows, and what it greys. */
const mayCall = ({ id, scope }: Token): readonly string[] =>
  ROUTES.filter(({ scopes }: Route) => id === 'anonymous' || scopes === 'open' || scopes.includes(scope)).map(
    ({ name }) => name,
  )

const isSession = ({ as }: Token): boolean => as === 'session'
const isLink = ({ as }: Token): boolean => as === 'link'

/** Those of an application around it, and of a port without tokens, are nowhere written down. */
const isStored = ({ createdAt }: Token): boolean => createdAt > 0

/** Whether TLS ends here or at a proxy: who says so falsely has a cookie that is sent more seldom. */
const isSecure = ({ url, headers }: Call): boolean =>
  url.startsWith('https:') || headers.get('x-forwarded-proto') === 'https'
