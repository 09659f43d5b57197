/**
 * Scoped tokens: `pawl_<id>_<secret>`, 256 random bits, shown once, kept as a SHA-256 and compared in constant time.
 * The tenant comes from the token and from nowhere else.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'
import type { Setting } from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/digest.ts'
import type { Random } from '../system/random.ts'
import { beyond, type Caps, capsWith } from './caps.ts'
import type { Scope } from './contract/route.ts'

export interface Token {
  readonly id: string
  readonly name: string
  readonly scope: Scope
  /** Empty where the scope is nobody's in particular: `metrics`. */
  readonly tenant: string
  /** For workers: the only queues they may touch; undefined for all. */
  readonly queues: readonly string[] | undefined
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** Of one that was made of another and goes with it: the other's id, and what it is good for. */
  readonly of?: string | undefined
  /** A browser's, shown as a cookie and nowhere else; or for one sign-in, and nothing besides. */
  readonly as?: 'session' | 'link' | undefined
}

/** The one it is, or was made of: browsers that signed in by one token are one caller with it, and have one share of everything. */
export const originOf = ({ id, of }: Pick<Token, 'id' | 'of'>): string => of ?? id

interface StoredToken extends Token {
  readonly sha256: string
}

interface Known {
  readonly stored: StoredToken
  /** When the store was asked last, and what it is being asked now. */
  readonly at: number
  asking: Promise<StoredToken | undefined> | undefined
}

export interface TokenPage {
  readonly tokens: readonly Token[]
  /** Where there are more: the id to go on behind. */
  readonly cursor: string | undefined
}

/** Every node forgets what it knows of a token this soon, so a revocation holds everywhere within it. */
const REMEMBER_MS = 2_000
const REMEMBER_MOST = 10_000
const PATTERN = /^pawl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/
const PAGE = 500
/** Documents of others that are passed over in search of a tenant's own before a page is answered as it is. */
const LOOKED_AT = 10_000

export class Tokens {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #random: Random
  readonly #caps: Caps
  /**
   * By id, the one used longest ago first. A token gets into it only by its secret: made-up ids
   * displace none.
   */
  readonly #known = new Map<string, Known>()

  constructor(engine: Engine, clock: Clock, random: Random, caps: Caps = capsWith()) {
    this.#engine = engine
    this.#clock = clock
    this.#random = random
    this.#caps = caps
  }

  /** Whether this very secret was good before: then looking it up again does not count against its address. */
  knows(secret: string): boolean {
    const known = this.#known.get(idIn(secret) ?? '')
    return known !== undefined && isSecretOf(known.stored, secret)
  }

  /** The token behind a secret, or undefined: unknown, altered, expired or revoked are one and the same to a caller. */
  async identify(secret: string): Promise<Token | undefined> {
    const id = idIn(secret)
    if (id === undefined) return undefined
    return this.#judged(secret, await this.#stored(id))
  }

  /** As `identify`, for many secrets in one question to the store, whatever is remembered. */
  async identifyAll(secrets: readonly string[]): Promise<readonly (Token | undefined)[]> {
    const ids = [...new Set(secrets.map(idIn).filter((id) => id !== undefined))]
    if (ids.length === 0) return secrets.map(() => undefined)
    const answers = await this.#engine.settings(ids.map((key) => ({ op: 'get', collection: 'token', key })))
    const stored = new Map(answers.flatMap(({ settings }) => settings).map((each) => [each.key, storedIn(each)]))
    return secrets.map((secret) => this.#judged(secret, stored.get(idIn(secret) ?? '')))
  }

  #judged(secret: string, stored: StoredToken | undefined): Token | undefined {
    if (!isSecretOf(stored, secret) || stored === undefined) return undefined
    this.#remember(stored)
    if (stored.revokedAt !== undefined) return undefined
    return stored.expiresAt !== undefined && stored.expiresAt <= this.#engine.now() ? undefined : stored
  }

  /** The secret is in this answer and nowhere else, ever. */
  async create(
    words: Pick<Token, 'name' | 'scope' | 'tenant' | 'queues'> & {
      /** The token's id; a random one unless given. */
      readonly id?: string | undefined
      readonly expiresInMs?: number | undefined
      readonly of?: string | undefined
      readonly as?: Token['as']
    },
  ): Promise<{ readonly token: Token; readonly secret: string }> {
    const { name, scope, tenant, queues, expiresInMs, of, as, id = this.#random.hex64() } = words
    const secret = `pawl_${id}_${this.#random.secret()}`
    const now = await this.#makeRoom(tenant)
    const expiresAt = expiresInMs === undefined ? undefined : now + expiresInMs
    const token: Token = { id, name, scope, tenant, queues, createdAt: now, expiresAt, revokedAt: undefined, of, as }
    await this.#write({ ...token, sha256: sha256(secret) })
    return { token, secret }
  }

  /** With it go those that were made of it. */
  async revoke(id: string, tenant: string): Promise<Token | undefined> {
    const stored = await this.find(id, tenant)
    if (stored === undefined) return undefined
    const revoked = { ...stored, revokedAt: stored.revokedAt ?? this.#engine.now() }
    await this.#write(revoked)
    for (const token of await this.list(tenant)) if (token.of === id) await this.remove(token)
    return revoked
  }

  /** For good, and only once: false where it is gone already. */
  async remove({ id }: Token): Promise<boolean> {
    const [there] = await this.#engine.settings([{ op: 'get', collection: 'token', key: id }])
    const rev = there?.settings[0]?.rev
    if (rev === undefined) return false
    const [answer] = await this.#engine.settings([{ op: 'remove', collection: 'token', key: id, rev }])
    this.#known.delete(id)
    return answer?.status === 'ok'
  }

  async find(id: string, tenant: string): Promise<StoredToken | undefined> {
    const stored = await this.#read(id)
    return stored?.tenant === tenant ? stored : undefined
  }

  async page(tenant: string, cursor: string | undefined, limit: number): Promise<TokenPage> {
    const tokens: Token[] = []
    let after = cursor ?? ''
    for (let looked = 0; looked < LOOKED_AT; looked += PAGE) {
      const { settings } = await this.#list(after)
      for (const setting of settings) {
        const token = storedIn(setting)
        if (token.tenant !== tenant) continue
        if (tokens.length === limit) return { tokens, cursor: tokens.at(-1)?.id }
        tokens.push(token)
      }
      if (settings.length < PAGE) return { tokens, cursor: undefined }
      after = settings.at(-1)?.key ?? after
    }
    return { tokens, cursor: after }
  }

  async list(tenant: string): Promise<readonly Token[]> {
    const found: Token[] = []
    let cursor: string | undefined
    do {
      const page = await this.page(tenant, cursor, PAGE)
      found.push(...page.tokens)
      cursor = page.cursor
    } while (cursor !== undefined)
    return found
  }

  /** Removes expired and revoked tokens of a tenant that has as many as it may. Returns the store's time. */
  async #makeRoom(tenant: string): Promise<number> {
    const all = await this.list(tenant)
    const now = this.#engine.now()
    if (all.length < this.#caps.tokensPerTenant) return now
    const spent = all.filter(({ revokedAt, expiresAt }) => revokedAt !== undefined || (expiresAt ?? now + 1) <= now)
    if (spent.length === 0) throw beyond('tokensPerTenant', this.#caps)
    const remove = ({ id }: Token) => ({ op: 'remove', collection: 'token', key: id, rev: undefined }) as const
    await this.#engine.settings(spent.map(remove))
    return now
  }

  async #list(after: string): Promise<{ readonly settings: readonly Setting[] }> {
    const [page] = await this.#engine.settings([{ op: 'list', collection: 'token', after, limit: PAGE }])
    return page ?? { settings: [] }
  }

  async #write(token: StoredToken): Promise<void> {
    await this.#engine.settings([
      { op: 'put', collection: 'token', key: token.id, text: JSON.stringify(token), rev: undefined },
    ])
    this.#known.delete(token.id)
  }

  #remember(stored: StoredToken): void {
    const known = this.#known.get(stored.id)
    if (known !== undefined && this.#isFresh(known)) return
    this.#known.delete(stored.id)
    this.#known.set(stored.id, { stored, at: this.#clock.monotonicMs(), asking: undefined })
    if (this.#known.size > REMEMBER_MOST) this.#known.delete(this.#known.keys().next().value as string)
  }

  #isFresh({ at }: Known): boolean {
    return this.#clock.monotonicMs() - at < REMEMBER_MS
  }

  /** A token as it is stored; requests that come together share one question. */
  async #stored(id: string): Promise<StoredToken | undefined> {
    const known = this.#known.get(id)
    if (known === undefined) return await this.#read(id)
    if (this.#isFresh(known)) return known.stored
    known.asking ??= this.#read(id).finally(() => {
      known.asking = undefined
    })
    return await known.asking
  }

  async #read(id: string): Promise<StoredToken | undefined> {
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'token', key: id }])
    const setting = answer?.settings[0]
    return setting === undefined ? undefined : storedIn(setting)
  }
}

const idIn = (secret: string): string | undefined => PATTERN.exec(secret)?.[1]

/** An unknown token is compared too, with a hash that nothing has, so that it takes as long. */
const isSecretOf = (stored: StoredToken | undefined, secret: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(secret)), Buffer.from(stored?.sha256 ?? '0'.repeat(64)))

const storedIn = ({ text }: Setting): StoredToken => JSON.parse(text) as StoredToken
