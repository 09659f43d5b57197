/**
 * Names that producers make up: queues, types, and kinds (what queue, type and policy make together). Stores never
 * forget a kind, so each tenant may have so many. What a gateway knows of queues and types is what the store held when it
 * was first asked, and what it has let in since; of kinds only the latter. A name that nobody uses any more is forgotten
 * when the tenant comes to its cap.
 */
import { digest } from '../core/hash.ts'
import type { Kind } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../system/clock.ts'
import { beyond, type Caps, type RefusingCap } from './caps.ts'

interface Names {
  readonly queues: Set<string>
  readonly types: Set<string>
  readonly kinds: Set<string>
}

/** Whoever is at its cap is counted again this often: something may have gone. */
const AGAIN_MS = 60_000

export class Census {
  readonly #engine: Pick<Engine, 'events'>
  readonly #clock: Clock
  readonly #caps: Caps
  #names = new Map<string, Names>()
  readonly #policies = new WeakMap<Policy, string>()
  #countedAt: number | undefined
  #counting: Promise<void> | undefined

  constructor(engine: Pick<Engine, 'events'>, clock: Clock, caps: Caps) {
    this.#engine = engine
    this.#clock = clock
    this.#caps = caps
  }

  /** Objects to a name that would be one too many, and remembers it otherwise. */
  async admit(kind: Kind): Promise<void> {
    if (this.#countedAt === undefined) await this.#count()
    if (this.#beyond(kind) !== undefined && this.#clock.monotonicMs() - (this.#countedAt ?? 0) >= AGAIN_MS)
      await this.#count()
    const cap = this.#beyond(kind)
    if (cap !== undefined) throw beyond(cap, this.#caps)
    const { queues, types, kinds } = this.#of(kind.tenant)
    queues.add(kind.queue)
    types.add(kind.type)
    kinds.add(this.#named(kind))
  }

  #beyond(kind: Kind): RefusingCap | undefined {
    const { queuesPerTenant, typesPerTenant, kindsPerTenant } = this.#caps
    const { queues, types, kinds } = this.#of(kind.tenant)
    if (!queues.has(kind.queue) && queues.size >= queuesPerTenant) return 'queuesPerTenant'
    if (!types.has(kind.type) && types.size >= typesPerTenant) return 'typesPerTenant'
    if (!kinds.has(this.#named(kind)) && kinds.size >= kindsPerTenant) return 'kindsPerTenant'
    return undefined
  }

  async #count(): Promise<void> {
    this.#counting ??= this.#read().finally(() => {
      this.#counting = undefined
    })
    await this.#counting
  }

  async #read(): Promise<void> {
    const { tally } = await this.#engine.events({ by: 'tally' })
    // Kinds are counted by what came through here: the tally does not tell policies apart.
    const before = this.#names
    this.#names = new Map()
    for (const { tenant, queue, jobType } of tally) {
      const { queues, types } = this.#of(tenant)
      queues.add(queue)
      types.add(jobType)
    }
    for (const [tenant, { kinds }] of before) for (const kind of kinds) this.#of(tenant).kinds.add(kind)
    this.#countedAt = this.#clock.monotonicMs()
  }

  #of(tenant: string): Names {
    const known = this.#names.get(tenant) ?? { queues: new Set(), types: new Set(), kinds: new Set() }
    this.#names.set(tenant, known)
    return known
  }

  #named({ queue, type, policy }: Kind): string {
    const name = this.#policies.get(policy) ?? digest(JSON.stringify(policy))
    this.#policies.set(policy, name)
    return `${queue}\n${type}\n${name}`
  }
}
