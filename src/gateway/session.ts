/**
 * Browsers: a token is shown once, and exchanged for a cookie that no script can read and no other site can send. The cookie
 * is a token of its own, made of the other and gone with it. A link is another, good for one exchange: it can be printed
 * where a token must not be.
 */
import { sha256 } from '../system/digest.ts'
import { originOf, type Token, type Tokens } from './token.ts'

/** A working day, and the night after it. */
export const SESSION_MS = 24 * 60 * 60 * 1_000
const LINK_MS = 15 * 60 * 1_000
/** Sessions of one token at a time: one more sign-in signs the oldest out. */
const SESSIONS_MOST = 20

/** What a request that changes something has to carry besides the cookie: a page of another site cannot know it. */
export const CSRF = 'X-Pawl-Csrf'

/** Where the dashboard takes a link's secret from: behind `#`, which no server is told. */
export const SIGN_IN = '/sign-in'

/** Undefined where the token it is made of is not good any more. */
export async function openSession(tokens: Tokens, token: Token, now: number): Promise<string | undefined> {
  const earlier = (await tokens.list(token.tenant)).filter(({ of, as }) => of === originOf(token) && as === 'session')
  const good = earlier.filter(({ expiresAt }) => (expiresAt ?? 0) > now).sort((a, b) => a.createdAt - b.createdAt)
  const spent = earlier.filter(({ expiresAt }) => (expiresAt ?? 0) <= now)
  const displaced = good.slice(0, Math.max(0, good.length - SESSIONS_MOST + 1))
  for (const each of [...spent, ...displaced]) await tokens.remove(each)
  const expiresInMs = Math.min(SESSION_MS, await lifeLeft(tokens, token, now))
  const { name, scope, tenant, queues } = token
  const made = await tokens.create({ name, scope, tenant, queues, of: originOf(token), as: 'session', expiresInMs })
  // Asked of the store, and afterwards: a revocation that comes later finds the session, and takes it along; one that came
  // before, be it at another gateway a moment ago, shows now.
  const parent = await tokens.find(originOf(token), tenant)
  if (parent !== undefined && parent.revokedAt === undefined) return made.secret
  await tokens.remove(made.token)
  return undefined
}

/** The way in for the person who reads what this process prints. */
export async function signInLink(tokens: Tokens, token: Token, url: string): Promise<string> {
  const { id, name, scope, tenant, queues } = token
  const { secret } = await tokens.create({ name, scope, tenant, queues, of: id, as: 'link', expiresInMs: LINK_MS })
  return `${url}${SIGN_IN}#${secret}`
}

async function lifeLeft(tokens: Tokens, token: Token, now: number): Promise<number> {
  const parent = token.of === undefined ? token : await tokens.find(token.of, token.tenant)
  return parent?.expiresAt === undefined ? Number.POSITIVE_INFINITY : parent.expiresAt - now
}

/** Browsers know cookies by host alone: two gateways of one machine must not take each other's. */
export const cookieName = (url: string): string => `pawl_session_${new URL(url).port || 'default'}`

export function sessionIn({ url, headers }: Pick<Request, 'url' | 'headers'>): string | undefined {
  const name = cookieName(url)
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=')
    if (key === name && value !== undefined && value !== '') return value
  }
  return undefined
}

/** `Set-Cookie`; without a secret it takes the cookie away. */
export function cookieFor(url: string, basePath: string, isSecure: boolean, secret: string | undefined): string {
  const life = secret === undefined ? 0 : SESSION_MS / 1_000
  const parts = [
    `${cookieName(url)}=${secret ?? ''}`,
    `Path=${basePath === '' ? '/' : basePath}`,
    `Max-Age=${life}`,
    'HttpOnly',
    'SameSite=Strict',
  ]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/** Only a page of ours may read the answer that tells it. */
export const csrfOf = (secret: string): string => sha256(`csrf ${secret}`).slice(0, 32)
