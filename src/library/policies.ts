/** Policies, as an application holds them: who is admitted, as a tenant has set it for its own jobs. */
import { DEFAULT_TENANT } from '../core/job.ts'
import { refuse } from '../core/refuse.ts'
import type { ActName } from '../engine/audit.ts'
import type { Engine } from '../engine/engine.ts'
import type { KeptPolicies, KeptPolicy } from '../policy/kept.ts'
import type { Asked } from './asked.ts'
import { bounded, type CallOptions } from './call.ts'
import { Invalid, Refused } from './errors.ts'
import type { PawlParts } from './pawl-parts.ts'

export interface SetPolicyOptions extends Omit<Asked, 'requestId' | 'expectedRev'> {
  /**
   * The revision that is replaced, 0 for none: refused with `REV_CONFLICT` where another is there.
   * @default whatever is there is replaced
   */
  readonly rev?: number | undefined
}

export class PolicyDesk {
  readonly #parts: PawlParts

  /** @internal */
  constructor(parts: PawlParts) {
    this.#parts = parts
  }

  /**
   * Sets what holds for the jobs of a tenant, as the text of a policy (docs/policy.md). It is looked at before it is taken: `Invalid` says every place
   * where it is broken, and then what was there goes on to hold. Schedulers go by it within seconds.
   */
  async set(name: string, text: string, options: SetPolicyOptions = {}): Promise<KeptPolicy> {
    const { actor: by = this.#actor, tenant = this.#tenant, rev, ...bounds } = options
    return await this.#call(`policy ${name}`, bounds, async (kept) => {
      const answer = await kept.set({ tenant, name, text, by, rev }, () => this.#tell('policy.set', tenant, by, name))
      switch (answer.status) {
        case 'ok':
          return answer.policy
        case 'refused':
          throw new Invalid(`policy ${name}`, answer.violations)
        case 'conflict':
          throw conflict(name, answer.rev)
      }
    })
  }

  /** Undefined: there is none of this name. */
  async get(name: string, options: Omit<SetPolicyOptions, 'rev'> = {}): Promise<KeptPolicy | undefined> {
    const { tenant = this.#tenant, ...bounds } = options
    return await this.#call(`policy ${name}`, bounds, (kept) => kept.find(tenant, name))
  }

  /** All of a tenant, by their names. */
  async list(options: Omit<SetPolicyOptions, 'rev'> = {}): Promise<readonly KeptPolicy[]> {
    const { tenant = this.#tenant, ...bounds } = options
    return await this.#call('policies', bounds, (kept) => kept.list(tenant))
  }

  /** Removes one; tells whether there was one. */
  async rm(name: string, options: SetPolicyOptions = {}): Promise<boolean> {
    const { actor: by = this.#actor, tenant = this.#tenant, rev, ...bounds } = options
    return await this.#call(`policy ${name}`, bounds, async (kept) => {
      const answer = await kept.remove({ tenant, name, rev }, () => this.#tell('policy.removed', tenant, by, name))
      if (answer.status === 'conflict') throw conflict(name, answer.rev)
      return answer.status === 'ok'
    })
  }

  /** Where the store is at hand; a gateway sees to it by itself. */
  async #tell(act: ActName, tenant: string, by: string, about: string): Promise<void> {
    await this.#parts.audit?.append(tenant, { act, by, about })
  }

  #call<T>(what: string, bounds: CallOptions, work: (kept: KeptPolicies) => Promise<T>): Promise<T> {
    const { isRemote = false } = this.#parts
    return bounded(this.#parts, what, bounds, async (engine: Engine) => {
      // Whoever sets none needs no library for conditions.
      const { KeptPolicies: Kept } = await import('../policy/kept.ts')
      return await work(new Kept(engine, isRemote))
    })
  }

  get #actor(): string {
    return this.#parts.actor ?? 'operator'
  }

  get #tenant(): string {
    return this.#parts.tenant ?? DEFAULT_TENANT
  }
}

const conflict = (name: string, rev: number): Refused =>
  new Refused({
    ...refuse('REV_CONFLICT', {
      message: rev === 0 ? `There is no policy ${name}.` : `Policy ${name} is at revision ${rev}.`,
    }),
    next: 'Look at what is there, then say which revision you replace.',
    rev,
  })
