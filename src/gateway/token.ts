/**
 * Scoped tokens: `pawl_<id>_<secret>`, 256 random bits, shown once, kept as a SHA-256 and compared in constant time.
 * The tenant comes from the token and from nowhere else.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../system/clock.ts'
import type { Random } from '../system/random.ts'
import type { Scope } from './contract/routes.ts'

export interface Token {
  readonly id: string
  readonly name: string
  readonly scope: Scope
  readonly tenant: string
  /** For workers: the only queues they may touch; undefined for all. */
  readonly queues: readonly string[] | undefined
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
}

interface StoredToken extends Token {
  readonly sha256: string
}

/** Every node forgets what it knows of a token this soon, so a revocation holds everywhere within it. */
const REMEMBER_MS = 2_000
const REMEMBER_MOST = 10_000
const PATTERN = /^pawl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/

export class Tokens {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #random: Random
  /** By id: what the store said, and when. Bounded; the oldest goes first. */
  readonly #known = new Map<string, { readonly stored: StoredToken | undefined; readonly at: number }>()

  constructor(engine: Engine, clock: Clock, random: Random) {
    this.#engine = engine
    this.#clock = clock
    this.#random = random
  }

  /** The token behind a secret, or undefined: unknown, altered, expired or revoked are one and the same to a caller. */
  async identify(secret: string): Promise<Token | undefined> {
    const match = PATTERN.exec(secret)
    if (match === null) return undefined
    const stored = await this.#stored(match[1] as string)
    // An unknown id is compared too, with a hash that nothing has, so that it takes as long.
    const expected = Buffer.from(stored?.sha256 ?? '0'.repeat(64), 'hex')
    const same = timingSafeEqual(sha256(secret), expected)
    if (!same || stored === undefined || stored.revokedAt !== undefined) return undefined
    return stored.expiresAt !== undefined && stored.expiresAt <= this.#engine.now() ? undefined : stored
  }

  /** The secret is in this answer and nowhere else, ever. */
  async create(
    words: Pick<Token, 'name' | 'scope' | 'tenant' | 'queues'> & { readonly expiresInMs?: number | undefined },
  ): Promise<{ readonly token: Token; readonly secret: string }> {
    const id = this.#random.hex64()
    const secret = `pawl_${id}_${this.#random.secret()}`
    const { name, scope, tenant, queues, expiresInMs } = words
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'token', key: id }])
    const createdAt = answer?.now ?? this.#engine.now()
    const expiresAt = expiresInMs === undefined ? undefined : createdAt + expiresInMs
    const token: Token = { id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt: undefined }
    await this.#write({ ...token, sha256: sha256(secret).toString('hex') })
    return { token, secret }
  }

  async revoke(id: string, tenant: string): Promise<Token | undefined> {
    this.#known.delete(id)
    const stored = await this.#stored(id)
    if (stored === undefined || stored.tenant !== tenant) return undefined
    const revoked = { ...stored, revokedAt: stored.revokedAt ?? this.#engine.now() }
    await this.#write(revoked)
    return revoked
  }

  async list(tenant: string): Promise<readonly Token[]> {
    const found: Token[] = []
    let after = ''
    for (;;) {
      const [page] = await this.#engine.settings([{ op: 'list', collection: 'token', after, limit: 500 }])
      const settings = page?.settings ?? []
      for (const { text } of settings) {
        const token = JSON.parse(text) as StoredToken
        if (token.tenant === tenant) found.push(token)
      }
      const last = settings.at(-1)
      if (last === undefined || settings.length < 500) return found
      after = last.key
    }
  }

  async #write(token: StoredToken): Promise<void> {
    await this.#engine.settings([
      { op: 'put', collection: 'token', key: token.id, text: JSON.stringify(token), rev: undefined },
    ])
    this.#known.delete(token.id)
  }

  async #stored(id: string): Promise<StoredToken | undefined> {
    const now = this.#clock.monotonicMs()
    const known = this.#known.get(id)
    if (known !== undefined && now - known.at < REMEMBER_MS) return known.stored
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'token', key: id }])
    const text = answer?.settings[0]?.text
    const stored = text === undefined ? undefined : (JSON.parse(text) as StoredToken)
    this.#known.delete(id)
    this.#known.set(id, { stored, at: now })
    if (this.#known.size > REMEMBER_MOST) this.#known.delete(this.#known.keys().next().value as string)
    return stored
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
