/**
 * Brings what code declares about keys to those that are there already: a key is born with the numbers of the first job that names it,
 * and the next deployment may have others. Each key is looked at once for all that a process declares about it, beside the
 * enqueuing and not in its way: until then the numbers of before hold.
 *
 * Invariant: `#underWay` is present exactly while something is being looked at; `#pending` has what has yet to be.
 */
import { declaring, decodeKey, ruleName } from '../core/flow/document.ts'
import type { KeyCause, Limit } from '../core/flow/key.ts'
import type { Job } from '../core/job.ts'
import type { Throttle } from '../core/recast.ts'
import type { KeyView } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { changeKey, type KeyWordParts } from './key-words.ts'

export interface DeclarationParts extends KeyWordParts {
  readonly log: Log
}

interface Declaration {
  readonly tenant: string
  readonly key: string
  /** The job type, or the rule. */
  readonly type: string
  readonly declared: Limit
  readonly cause: KeyCause
}

/** Keys remembered as looked at; the one that was longest ago goes first, and is looked at once more. */
const LOOKED_AT_MOST = 100_000
/** What a rule says is told to its keys as often: one that was forgotten may have come back with the numbers of a job type. */
const RULES_AGAIN_MS = 60_000

interface LookedAt {
  readonly declared: Limit
  readonly at: number
}

export class Declarations implements AsyncDisposable {
  readonly #parts: DeclarationParts
  readonly #lookedAt = new Map<string, LookedAt>()
  #pending: Declaration[] = []
  #underWay: Promise<void> | undefined

  constructor(parts: DeclarationParts) {
    this.#parts = parts
  }

  /** A job was enqueued. */
  note({ id, spec }: Job, { actor, requestId }: Pick<KeyCause, 'actor' | 'requestId'>): void {
    const { tenant, type, policy } = spec.kind
    for (const [i, key] of (spec.flow?.keys ?? []).entries()) {
      const declared = policy.limits?.[i]
      if (declared === undefined || !this.#isNew(nameOf(tenant, key, type), declared)) continue
      const cause = { job: id, attempt: undefined, code: undefined, actor, requestId }
      this.#pending.push({ tenant, key, type, declared, cause })
    }
    if (this.#pending.length > 0) this.#underWay ??= this.#lookAtAll()
  }

  /** A job was admitted under keys that a rule has numbers for. */
  noteRule(
    { id, spec }: Job,
    { key, rule, limit }: Throttle,
    { actor, requestId }: Pick<KeyCause, 'actor' | 'requestId'>,
  ): void {
    const { tenant } = spec.kind
    const type = ruleName(rule)
    if (limit === undefined || !this.#isNew(nameOf(tenant, key, type), limit, RULES_AGAIN_MS)) return
    const cause = { job: id, attempt: undefined, code: undefined, actor, requestId }
    this.#pending.push({ tenant, key, type, declared: limit, cause })
    this.#underWay ??= this.#lookAtAll()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#underWay
  }

  #isNew(name: string, declared: Limit, forMs = Number.POSITIVE_INFINITY): boolean {
    const before = this.#lookedAt.get(name)
    const at = this.#parts.now()
    if (before !== undefined && isSame(before.declared, declared) && at - before.at < forMs) return false
    this.#lookedAt.delete(name)
    this.#lookedAt.set(name, { declared, at })
    if (this.#lookedAt.size > LOOKED_AT_MOST) this.#lookedAt.delete(this.#lookedAt.keys().next().value as string)
    return true
  }

  async #lookAtAll(): Promise<void> {
    // After the enqueuing under way has been answered: what it brings is looked at together.
    await Promise.resolve()
    while (this.#pending.length > 0) {
      const all = this.#pending
      this.#pending = []
      for (const [tenant, some] of Map.groupBy(all, (each) => each.tenant)) await this.#lookAt(tenant, some)
    }
    this.#underWay = undefined
  }

  async #lookAt(tenant: string, declarations: readonly Declaration[]): Promise<void> {
    try {
      const names = [...new Set(declarations.map(({ key }) => key))]
      const views = new Map((await this.#parts.keys.views(tenant, names)).map((view) => [view.key, view]))
      for (const declaration of declarations) {
        const view = views.get(declaration.key)
        if (documentAfter(view, declaration) !== undefined) await this.#declare(declaration)
      }
    } catch (error) {
      // With the next job of these keys it is tried again.
      for (const { key, type } of declarations) this.#lookedAt.delete(nameOf(tenant, key, type))
      this.#parts.log.warn('declared limits did not reach their keys, and are told again', { reason: String(error) })
    }
  }

  async #declare(declaration: Declaration): Promise<void> {
    const { tenant, key, type, cause } = declaration
    await changeKey(this.#parts, { tenant, key }, (view) => {
      const document = documentAfter(view, declaration)
      return document && { document, inputs: [{ type: 'set', cause }] }
    })
    this.#parts.log.info('key declared anew', { key, tenant, by: type })
  }
}

const isSame = (a: Limit, b: Limit): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

const documentAfter = (view: KeyView | undefined, { type, declared }: Declaration) =>
  view && declaring(decodeKey(view.key, view.text), type, declared)

const nameOf = (tenant: string, key: string, type: string): string => JSON.stringify([tenant, key, type])
