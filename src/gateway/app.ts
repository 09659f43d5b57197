/**
 * The gateway: a `fetch` handler over an engine. Every request takes the same way: a path and method of the closed
 * table, room in the house, a token with the right scope, words within their bounds; only then a handler sees it.
 */

import { type Context, Hono } from 'hono'
import { isSegment } from '../core/name.ts'
import { reasonOf } from '../core/reason.ts'
import type { Violation } from '../core/refusal.ts'
import type { Allowance, Share } from './allowance.ts'
import { parsed, readBody, understood, violationsOf } from './body.ts'
import type { Call, Parts, Reply } from './call.ts'
import { beyond, type Caps } from './caps.ts'
import { openApi } from './contract/openapi.ts'
import type { Route } from './contract/route.ts'
import { ROUTES } from './contract/routes.ts'
import { PARAMETERS } from './contract/schemas.ts'
import type { Caller, Door } from './door.ts'
import { HANDLERS } from './handlers.ts'
import { isUnavailable, Objected, objection, type Problem } from './problem.ts'
import type { Rate } from './rate.ts'
import type { Refusals } from './refusals.ts'
import type { Rounds } from './rounds.ts'
import type { Shedding } from './shedding.ts'
import { originOf, type Token } from './token.ts'
import type { Turns } from './turns.ts'

export interface AppOptions {
  readonly parts: Parts
  readonly caps: Caps
  /** The path it is mounted at, before every other; or empty. */
  readonly basePath: string
  readonly door: Door
  readonly shedding: Shedding
  readonly rate: Rate
  readonly rounds: Rounds
  readonly reads: Turns
  readonly refusals: Refusals
  /** Bytes of request bodies that are being read. */
  readonly bytes: Allowance
  /** Absent where there is no dashboard. */
  readonly pages: Pages | undefined
}

/** Pages and files for browsers, beside the routes. */
export interface Pages {
  /** Undefined where the path is none of theirs. */
  find(path: string, headers: Headers): Promise<Reply | undefined>
}

export type Fetch = (request: Request, env?: unknown) => Promise<Response> | Response

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** The store's clock rides on every answer: clients estimate it as engines do. */
const NOW = 'X-Pawl-Now'

export function gateway(options: AppOptions): Fetch {
  const app = new Hono()
  const { basePath } = options
  for (const route of ROUTES) {
    const path = basePath + route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(route.method, path, (c) => serve(route, c, options))
    // The place it is mounted at is the same with and without a slash behind it.
    if (route.path === '/' && basePath !== '') app.on(route.method, basePath, (c) => serve(route, c, options))
  }
  const respondWith = (problem: Problem) =>
    respond(problemReply(problem, options), options.parts.random.uuid(), options)
  app.notFound((c) => respondWith(absent(c.req.method, c.req.path.slice(basePath.length))))
  const withPages = async (request: Request, env: unknown, pages: Pages): Promise<Response> => {
    const path = new URL(request.url).pathname.slice(basePath.length)
    const page = await pages.find(path, request.headers)
    return page === undefined ? app.fetch(request, env as object) : respond(page, options.parts.random.uuid(), options)
  }
  return (request, env) => {
    const target = rawTarget(request, env)
    if (!isBelow(target, basePath) || isOdd(target.slice(basePath.length))) return respondWith(objection('NO_ROUTE'))
    if (request.method === 'GET' && options.pages !== undefined) return withPages(request, env, options.pages)
    if (request.method === 'HEAD') {
      return respondWith(absent(request.method, new URL(request.url).pathname.slice(basePath.length)))
    }
    return app.fetch(request, env as object)
  }
}

async function serve(route: Route, c: Context, options: AppOptions): Promise<Response> {
  const requestId = options.parts.random.uuid()
  const room = roomFor(route, options)
  try {
    return respond(await answer(route, c, options, requestId, room), requestId, options)
  } catch (error) {
    if (error instanceof Objected) return respond(problemReply(error.problem, options), requestId, options)
    const unavailable = objection('UNAVAILABLE', undefined, undefined, 1_000)
    // A request that is still open while the gateway ends meets a closed store: it is answered as unavailable, and nothing is logged.
    if (options.parts.ending.aborted) return respond(problemReply(unavailable, options), requestId, options)
    options.parts.log.error('request failed', {
      request_id: requestId,
      route: route.name,
      reason: reasonOf(error),
    })
    return respond(
      problemReply(isUnavailable(error) ? unavailable : objection('INTERNAL'), options),
      requestId,
      options,
    )
  } finally {
    room.leave()
  }
}

interface Room {
  enter(): void
  leave(): void
}

/** A request's place among those under way; it may leave and come in again. */
function roomFor({ urgency }: Route, { shedding, caps }: AppOptions): Room {
  let out: (() => void) | undefined
  return {
    enter() {
      out = shedding.enter(urgency)
      if (out === undefined) throw beyond('requests', caps, { retryAfterMs: 1_000 })
    },
    leave: () => out?.(),
  }
}

async function answer(route: Route, c: Context, options: AppOptions, requestId: string, room: Room): Promise<Reply> {
  const { parts, door, refusals } = options
  const request = c.req.raw
  const cameMs = parts.clock.monotonicMs()
  const caller = { address: addressOf(c), env: c.env as unknown }
  room.enter()
  const token = await door.admit(route, request, caller)
  try {
    return await admitted({ route, c, options, requestId, room, cameMs, caller, token })
  } catch (error) {
    room.leave()
    await refusals.hold(originOf(token), error, request)
    throw error
  }
}

/** A request whose token may ask this. */
interface Admitted {
  readonly route: Route
  readonly c: Context
  readonly options: AppOptions
  readonly requestId: string
  readonly room: Room
  readonly cameMs: number
  readonly caller: Caller
  readonly token: Token
}

/** What a request counts for in the rate, besides the jobs or words in it. */
const REQUEST_ITEMS = 5

async function admitted({ route, c, options, requestId, room, cameMs, caller, token }: Admitted): Promise<Reply> {
  const { parts, caps, basePath, door, rate, rounds, reads, bytes } = options
  const request = c.req.raw
  const ration = isRationed(route, token) ? rate.of(originOf(token)) : undefined
  ration?.take(REQUEST_ITEMS)
  const query = parsed(route.query, queryOf(request.url), 'query')
  // However slowly a client sends, no other waits for it: only requests that are being worked on take up room.
  room.leave()
  using share: Share = bytes.share(token)
  const text = route.body === undefined ? '' : await readBody(request, route, caps, share)
  await rounds.take(originOf(token), text.length, route.urgency !== 'owner')
  room.enter()
  const { value, kept } = understood(text, route, caps)
  const body = route.body === undefined ? {} : parsed(route.body, value, 'body')
  if (route.items !== undefined) ration?.take(itemsIn(body, route.items, ration.most))
  const gone = route.isHeavy ? new AbortController() : undefined
  const call: Call = {
    route,
    token,
    address: caller.address,
    params: parametersOf(c.req.param()),
    query,
    body,
    kept,
    headers: request.headers,
    url: request.url,
    requestId,
    cameMs,
    signal: gone === undefined ? request.signal : AbortSignal.any([request.signal, gone.signal]),
    leave: room.leave,
    hangUp: () => (c.env as { outgoing?: { destroy(): void } } | undefined)?.outgoing?.destroy(),
    stillWelcome: async () => void (await door.admit(route, request, caller)),
  }
  if (route.name === 'openapi') return { status: 200, body: JSON.stringify(openApi(basePath)) }
  const handler = HANDLERS[route.name]
  if (handler === undefined) throw new Error(`no handler for ${route.name}`)
  const work = () => handler(call, parts)
  const handled = route.isHeavy ? reads.take({ holder: token, weight: 1, work, signal: call.signal }) : work()
  const reply = await inTime(handled, call, parts, gone)
  return ration === undefined ? reply : { ...reply, headers: { ...ration.headers(), ...reply.headers } }
}

function itemsIn(body: Readonly<Record<string, unknown>>, member: string, most: number): number {
  const { length } = body[member] as readonly unknown[] | string
  // To understand a rule takes as long as fifty jobs do. However long a text is, a pace that was set low lets one in after the other.
  return member === 'text' ? Math.min(Math.ceil(length / 2), Math.floor(most / 2)) : length
}

/** The address of the connection; where there is a proxy, the proxy's. */
const addressOf = ({ env }: Context): string =>
  (env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming?.socket?.remoteAddress ?? ''

/** Workers on owners' routes are never told to slow down: they keep leases alive. Other tokens on these routes have no lease to lose. */
const isRationed = ({ urgency }: Route, { scope }: Token): boolean =>
  urgency === 'enqueue' || urgency === 'list' || (urgency === 'owner' && scope !== 'worker' && scope !== 'admin')

/** A store that is down lets nobody wait for it: what is not answered by then is told so. Long polls wait besides. */
const ANSWER_WITHIN_MS = 10_000

async function inTime(
  answered: Promise<Reply>,
  { body, query }: Call,
  { timers }: Parts,
  gone: AbortController | undefined,
): Promise<Reply> {
  const asked = Number(body['waitMs'] ?? query['waitMs'] ?? 0)
  const late = Promise.withResolvers<undefined>()
  using _timer = timers.after(ANSWER_WITHIN_MS + asked, () => late.resolve(undefined))
  // The caller is told that the outcome is not known; what comes of the call after all is dropped.
  answered.catch(() => {})
  const reply = await Promise.race([answered, late.promise])
  if (reply !== undefined) return reply
  gone?.abort()
  throw new Objected(objection('UNAVAILABLE', undefined, undefined, 1_000))
}

function queryOf(url: string): Readonly<Record<string, string | readonly string[]>> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of new URL(url).searchParams) {
    const before = query[name]
    if (Array.isArray(before)) before.push(value)
    else query[name] = before === undefined ? value : [before, value]
  }
  return { ...query }
}

/** The target as the client wrote it: URL parsers mend what must not be mended. */
const rawTarget = (request: Request, env: unknown): string =>
  (env as { incoming?: { url?: string } } | undefined)?.incoming?.url ?? request.url.replace(/^[a-z]+:\/\/[^/]*/i, '')

/** Letter by letter, as the application was told where it is. */
const isBelow = (target: string, basePath: string): boolean =>
  target.startsWith(basePath) && ['', '/', '?'].includes(target.charAt(basePath.length))

/**
 * Anything that others on the way might read as another path than this gateway does. What a name may contain is escaped
 * within its segment, where it is text and nothing else: a slash in it separates nothing.
 */
function isOdd(target: string): boolean {
  const path = target.split('?')[0] as string
  const [, ...segments] = path.split('/')
  return path !== '/' && segments.some((segment) => /[;\\]/.test(segment) || !isSegment(unescaped(segment)))
}

/** Empty where it is not well escaped. */
function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** Names in the path, within the bounds that names have. */
function parametersOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const found: Violation[] = []
  for (const [name, value] of Object.entries(given)) {
    const result = PARAMETERS[name]?.safeParse(value)
    if (result?.success === false) found.push(...violationsOf(result.error, `path.${name}`))
  }
  if (found.length > 0) throw new Objected(objection('MALFORMED', 'The path has a name that breaks a rule.', found))
  return given
}

function absent(method: string, path: string): Problem {
  const allowed = ROUTES.filter((route) => patternOf(route).test(path)).map((route) => route.method)
  if (allowed.length === 0) return objection('NO_ROUTE')
  const problem = objection('METHOD', `${method.slice(0, 20)} is not among ${allowed.join(', ')}.`)
  return { ...problem, body: { ...problem.body, allow: allowed.join(', ') } }
}

const patternOf = ({ path }: Route): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

function problemReply({ status, body, retryAfterMs }: Problem, { basePath }: AppOptions): Reply {
  const { allow, ...told } = body
  return {
    status,
    type: 'application/problem+json',
    body: JSON.stringify({ ...told, type: `${basePath}${told['type']}` }),
    headers: {
      ...(retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
      ...(typeof allow === 'string' ? { Allow: allow } : {}),
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
  }
}

function respond(
  { status, body, type = 'application/json', headers }: Reply,
  requestId: string,
  { parts, basePath }: AppOptions,
): Response {
  const own = { 'Content-Type': type, 'X-Request-Id': requestId, [NOW]: String(parts.engine.now()) }
  const { Location } = headers ?? {}
  const place = Location === undefined ? {} : { Location: basePath + Location }
  return new Response(body ?? null, { status, headers: { ...HEADERS, ...own, ...headers, ...place } })
}
