/**
 * Names that producers make up: queues, types, and kinds (what queue, type and policy make together). Stores never
 * forget a kind, so each tenant may have so many. What a gateway knows of queues and types is what the store held when it
 * was first asked, and what it has let in since. A name that nobody uses any more is forgotten when the tenant comes to
 * its cap. Kinds no store tells apart from outside, so those let in are written down: a small document for each, once,
 * without which every restart would begin to count from nothing.
 */
import type { Kind } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import { pageOf, prefixOf } from '../engine/documents.ts'
import type { Engine } from '../engine/engine.ts'
import type { SettingOperation } from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/digest.ts'
import { beyond, type Caps, type RefusingCap } from './caps.ts'

interface Names {
  readonly queues: Set<string>
  readonly types: Set<string>
  readonly kinds: Kinds
}

interface Kinds {
  /** Let in here, by their text. */
  readonly known: Set<string>
  /** Let in by any gateway, by the keys of their documents. */
  readonly written: Set<string>
  /** Present once the documents have been asked for. */
  recalled: Promise<void> | undefined
}

/** A tenant at its cap is counted again this often: something may have gone. */
const AGAIN_MS = 60_000
/** Documents written in one go. */
const WRITTEN_AT_ONCE = 500

export class Census {
  readonly #engine: Pick<Engine, 'events' | 'settings'>
  readonly #clock: Clock
  readonly #caps: Caps
  #names = new Map<string, Names>()
  readonly #policies = new WeakMap<Policy, string>()
  /** Keys of kinds that were let in and are not written down yet. */
  readonly #unwritten = new Set<string>()
  #countedAt: number | undefined
  #counting: Promise<void> | undefined

  constructor(engine: Pick<Engine, 'events' | 'settings'>, clock: Clock, caps: Caps) {
    this.#engine = engine
    this.#clock = clock
    this.#caps = caps
  }

  /** Objects to a name that would be one too many, and remembers it otherwise. To be kept before anything has it. */
  async admit(kind: Kind): Promise<void> {
    if (this.#countedAt === undefined) await this.#count()
    await this.#recall(kind)
    if (this.#beyond(kind) !== undefined && this.#clock.monotonicMs() - (this.#countedAt ?? 0) >= AGAIN_MS)
      await this.#count()
    const cap = this.#beyond(kind)
    if (cap !== undefined) throw beyond(cap, this.#caps)
    const { queues, types, kinds } = this.#of(kind.tenant)
    queues.add(kind.queue)
    types.add(kind.type)
    const text = this.#textOf(kind)
    if (kinds.known.has(text)) return
    kinds.known.add(text)
    const key = keyOf(kind.tenant, text)
    if (kinds.written.has(key)) return
    kinds.written.add(key)
    this.#unwritten.add(key)
  }

  /** Writes down the kinds that were admitted. */
  async keep(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const keys = [...this.#unwritten].slice(0, WRITTEN_AT_ONCE)
      await this.#engine.settings(
        keys.map((key): SettingOperation => ({ op: 'put', collection: 'kind', key, text: '{}', rev: undefined })),
      )
      for (const key of keys) this.#unwritten.delete(key)
    }
  }

  #beyond(kind: Kind): RefusingCap | undefined {
    const { queuesPerTenant, typesPerTenant, kindsPerTenant } = this.#caps
    const { queues, types, kinds } = this.#of(kind.tenant)
    if (!queues.has(kind.queue) && queues.size >= queuesPerTenant) return 'queuesPerTenant'
    if (!types.has(kind.type) && types.size >= typesPerTenant) return 'typesPerTenant'
    if (kinds.written.size < kindsPerTenant) return undefined
    const text = this.#textOf(kind)
    return kinds.known.has(text) || kinds.written.has(keyOf(kind.tenant, text)) ? undefined : 'kindsPerTenant'
  }

  async #count(): Promise<void> {
    this.#counting ??= this.#read().finally(() => {
      this.#counting = undefined
    })
    await this.#counting
  }

  async #read(): Promise<void> {
    const { tally } = await this.#engine.events({ by: 'tally' })
    const before = this.#names
    this.#names = new Map()
    for (const [tenant, { kinds }] of before) this.#names.set(tenant, { queues: new Set(), types: new Set(), kinds })
    for (const { tenant, queue, jobType } of tally) {
      const { queues, types } = this.#of(tenant)
      queues.add(queue)
      types.add(jobType)
    }
    this.#countedAt = this.#clock.monotonicMs()
  }

  /** Reads the kinds that are written of a tenant, once: when the first one comes that is new to this process. */
  async #recall(kind: Kind): Promise<void> {
    const { kinds } = this.#of(kind.tenant)
    if (kinds.known.has(this.#textOf(kind))) return
    kinds.recalled ??= this.#readKinds(kind.tenant, kinds.written).catch((error: unknown) => {
      kinds.recalled = undefined
      throw error
    })
    await kinds.recalled
  }

  async #readKinds(tenant: string, written: Set<string>): Promise<void> {
    for (let after = prefixOf(tenant); written.size < this.#caps.kindsPerTenant; ) {
      const { settings, isLast } = await pageOf(this.#engine, 'kind', tenant, after)
      for (const { key } of settings) written.add(key)
      if (isLast) return
      after = settings.at(-1)?.key ?? after
    }
  }

  #of(tenant: string): Names {
    const known = this.#names.get(tenant) ?? {
      queues: new Set(),
      types: new Set(),
      kinds: { known: new Set(), written: new Set(), recalled: undefined },
    }
    this.#names.set(tenant, known)
    return known
  }

  #textOf({ queue, type, policy }: Kind): string {
    const name = this.#policies.get(policy) ?? sha256(JSON.stringify(policy))
    this.#policies.set(policy, name)
    return `${queue}\n${type}\n${name}`
  }
}

/** Keyed by a cryptographic digest: a caller cannot make two kinds share one. */
const keyOf = (tenant: string, text: string): string => JSON.stringify([tenant, sha256(text)])
