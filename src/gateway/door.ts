/** Default-deny: a route says who may; nobody else does. */
import type { Route } from './contract/route.ts'
import type { Guard } from './guard.ts'
import { type Authorize, guest } from './host.ts'
import { Objected, objection } from './problem.ts'
import { CSRF, csrfOf, sessionIn } from './session.ts'
import { Strangers } from './strangers.ts'
import type { Token, Tokens } from './token.ts'

export interface DoorOptions {
  readonly tokens: Tokens
  readonly guard: Guard
  /** Says who a caller is that the application around the gateway has let in already. */
  readonly authorize: Authorize
  /** The token that every caller has where none is asked for: loopback only, and only when switched on. */
  readonly anonymous: Token | undefined
}

/** The address a request comes from, and what the application handed over with it. */
export interface Caller {
  readonly address: string
  /** The second argument of `fetch`, as the application handed it over. */
  readonly env: unknown
}

export class Door {
  readonly #options: DoorOptions
  /** Strangers who are being looked up, by what they showed: those who show the same are one. */
  readonly #strangers = new Map<string, Promise<Token | undefined>>()
  readonly #beyond: Strangers

  constructor(options: DoorOptions) {
    this.#options = options
    this.#beyond = new Strangers(options.tokens)
  }

  /** The token of a request that may call this route; throws otherwise. Called again for a request that has waited since. */
  async admit(route: Route, request: Request, { address, env }: Caller): Promise<Token> {
    const { anonymous, authorize } = this.#options
    if (route.scopes === 'open') return NOBODY
    if (isForeignPage(request, anonymous !== undefined)) throw new Objected(objection('CROSS_SITE'))
    const access = await authorize(request, env)
    const token = access === undefined ? await this.#shown(request, address) : guest(access)
    if (token === undefined || (token.as === 'link' && route.name !== 'createSession'))
      throw new Objected(objection('UNAUTHENTICATED'))
    // Where tokens are switched off, a caller who shows none may call every route, those besides an admin's included (audit,
    // metrics). A token that is shown is held to its scope.
    if (token !== anonymous && !route.scopes.includes(token.scope))
      throw new Objected(objection('FORBIDDEN', `A ${token.scope} token may not: ${route.summary}.`))
    return token
  }

  async #shown(request: Request, address: string): Promise<Token | undefined> {
    const secret = secretIn(request.headers)
    if (secret !== undefined) {
      const token = await this.#identify(secret, address)
      return token?.as === 'session' ? undefined : token
    }
    return (await this.#session(request, address)) ?? this.#options.anonymous
  }

  /** A cookie comes by itself, whatever page has made the browser ask: a request that changes something shows besides that a page of ours did. */
  async #session(request: Request, address: string): Promise<Token | undefined> {
    const secret = sessionIn(request)
    if (secret === undefined) return undefined
    const token = await this.#identify(secret, address)
    if (token?.as !== 'session') return undefined
    if (request.method !== 'GET' && request.headers.get(CSRF) !== csrfOf(secret))
      throw new Objected(objection('CROSS_SITE', `A request by cookie carries ${CSRF}, as GET /v1/session tells it.`))
    return token
  }

  async #identify(secret: string, address: string): Promise<Token | undefined> {
    const { tokens, guard } = this.#options
    if (tokens.knows(secret)) return await tokens.identify(secret)
    const asked = this.#strangers.get(secret)
    if (asked !== undefined) return await asked
    const objection = guard.attempt(address)
    if (objection !== undefined) {
      const token = await this.#beyond.identify(secret)
      if (token === undefined) throw objection
      return token
    }
    const asking = tokens.identify(secret).finally(() => this.#strangers.delete(secret))
    this.#strangers.set(secret, asking)
    const token = await asking
    if (token !== undefined) guard.succeeded(address)
    return token
  }
}

/** The scheme is written as everybody likes (RFC 9110). */
function secretIn(headers: Headers): string | undefined {
  const header = headers.get('authorization') ?? ''
  return /^bearer +/i.test(header) ? header.slice('bearer'.length).trim() : undefined
}

/**
 * A browser page of another site has no business here, whatever it carries. Where no token is asked for, a page whose
 * name was made to point to this machine would pass as our own: there the name must be this machine's.
 */
function isForeignPage({ url, headers }: Request, tokenless: boolean): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return true
  const { host, hostname } = new URL(url)
  // Browsers that do not say where a page is from say its origin; whether that is reached by TLS is a proxy's business.
  const from = site === null ? headers.get('origin') : null
  if (from !== null && (URL.parse(from)?.host ?? '') !== host) return true
  return tokenless && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** Of open routes, which ask nobody who they are. No queue is theirs: `undefined` would be all. */
const NOBODY: Token = {
  id: '',
  name: '',
  scope: 'viewer',
  tenant: '',
  queues: [],
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
}
