/** Limits, as an application holds them: looked at, set by hand, and what was learnt about whoever is behind a key. */
import type { KeyState } from '../core/flow/key.ts'
import { type LimitInput, resolveByHand } from '../core/flow/limit-input.ts'
import { DEFAULT_TENANT } from '../core/job.ts'
import { LENGTHS } from '../core/limits.ts'
import type { Violation } from '../core/refusal.ts'
import type { ActName } from '../engine/audit.ts'
import type { KeyWord, LimitPage, LimitStatus } from '../engine/engine.ts'
import type { Mended } from '../engine/mend.ts'
import type { Asked } from './asked.ts'
import { bounded, type CallOptions } from './call.ts'
import { Invalid } from './errors.ts'
import type { PawlParts } from './pawl-parts.ts'

export interface ListLimitsOptions extends CallOptions {
  /**
   * Only keys that are in one of these states.
   * @default all
   */
  readonly states?: readonly KeyState[] | undefined
  /**
   * Keys looked at for the page: with `states` it may be shorter, and go on.
   * @default 100
   */
  readonly limit?: number | undefined
  /**
   * Where the page before ended.
   * @default the first key
   */
  readonly cursor?: string | undefined
  /**
   * Whose keys.
   * @default that of `open`, else `default`
   */
  readonly tenant?: string | undefined
}

export interface RepairOptions extends CallOptions {
  /**
   * Whose limits.
   * @default that of `open`, else every tenant's
   */
  readonly tenant?: string | undefined
  /**
   * Who asks, for the audit log.
   * @default that of `open`, else `operator`
   */
  readonly actor?: string | undefined
}

const PAGE = 100

export class LimitDesk {
  readonly #parts: PawlParts

  /** @internal */
  constructor(parts: PawlParts) {
    this.#parts = parts
  }

  /** Sets what holds for a key, from now on and until it is removed, whatever its job type declares. */
  async set(key: string, limit: Omit<LimitInput, 'adaptive'>, asked: Asked = {}): Promise<LimitStatus> {
    const found: Violation[] = []
    const resolved = resolveByHand(limit, 'limit', found)
    if (typeof key !== 'string' || key === '' || key.length > LENGTHS.key)
      found.push({ field: 'key', rule: `must be text of 1 to ${LENGTHS.key} characters` })
    if (found.length > 0) throw new Invalid(`limit of ${key}`, found)
    const status = await this.#say('limit.set', key, { type: 'set', limit: resolved }, asked)
    if (status === undefined)
      throw new Invalid(`limit of ${key}`, [{ field: 'key', rule: 'is not kept by this store' }])
    return status
  }

  /** Removes what was set by hand: what the job type declares holds again. Undefined: there is no such key. */
  rm(key: string, asked: Asked = {}): Promise<LimitStatus | undefined> {
    return this.#say('limit.removed', key, { type: 'unset' }, asked)
  }

  /** Forgets what was learnt of the other side: the key is open, and keeps its session. Undefined: there is no such key. */
  reset(key: string, asked: Asked = {}): Promise<LimitStatus | undefined> {
    return this.#say('limit.reset', key, { type: 'reset' }, asked)
  }

  /** Ends the cool-down of a broken key: one job finds out whether it works. Undefined: there is no such key. */
  probe(key: string, asked: Asked = {}): Promise<LimitStatus | undefined> {
    return this.#say('limit.probed', key, { type: 'probe' }, asked)
  }

  /**
   * Makes anew what is derived, where `verify` has found that it differs: slots from where jobs are, what was spent from their logs, and
   * that somebody looks at whoever is held. What jobs, logs and keys say stays as it is. Without `tenant`: of every tenant's.
   */
  async repair(asked: RepairOptions = {}): Promise<Mended> {
    const { mend, audit, tenant: own } = this.#parts
    if (mend === undefined) throw new TypeError('repair: limits are repaired where the store is, not over HTTP')
    const { actor = this.#parts.actor ?? 'operator', tenant = own, ...bounds } = asked
    const write = async (whose: string) => {
      await audit?.append(whose, { act: 'limits.repaired', by: actor, about: whose })
    }
    return bounded(this.#parts, 'repair', bounds, () => mend(tenant, write))
  }

  async get(key: string, { tenant = this.#tenant, ...bounds }: Asked = {}): Promise<LimitStatus | undefined> {
    const query = { tenant, names: [key], limit: 1 }
    const { limits } = await bounded(this.#parts, `limit of ${key}`, bounds, (engine) => engine.limits(query))
    return limits[0]
  }

  /** Keys by their names. */
  list({ tenant = this.#tenant, states, limit = PAGE, cursor, ...bounds }: ListLimitsOptions = {}): Promise<LimitPage> {
    return bounded(this.#parts, 'limits', bounds, (engine) => engine.limits({ tenant, states, limit, cursor }))
  }

  #say(act: ActName, key: string, ask: KeyWord['ask'], asked: Asked): Promise<LimitStatus | undefined> {
    const { actor = this.#parts.actor ?? 'operator', requestId = this.#parts.ids.requestId() } = asked
    const { tenant = this.#tenant } = asked
    return bounded(this.#parts, `${act} of ${key}`, asked, async (engine) => {
      await this.#parts.audit?.append(tenant, { act, by: actor, about: key })
      const [status] = await engine.sayToLimits([{ tenant, key, actor, requestId, ask }])
      return status
    })
  }

  get #tenant(): string {
    return this.#parts.tenant ?? DEFAULT_TENANT
  }
}
