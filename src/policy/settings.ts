/**
 * The policies that tenants have set, as schedulers go by them: read again whenever their notch has turned, which is asked before each
 * batch. Where one of a tenant's is broken (an edition that knows more has set it, or somebody has written to the store by hand), nothing of
 * that tenant is judged and its jobs wait; others go on.
 */
import type { Engine } from '../engine/engine.ts'
import type { Setting } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { NOTCH, snapshotOf } from './kept.ts'
import type { Snapshot } from './snapshot.ts'
import { faultText } from './source.ts'

type Own = { readonly revs: string; readonly snapshot: Snapshot | undefined }

const PAGE = 20
/** What was written without turning the notch, as by an import, is found all the same. */
const ANYWAY_MS = 60_000
/** However often something is set, everything is read this seldom. */
const PAUSE_MS = 1_000

export class PolicySettings {
  readonly #engine: Pick<Engine, 'settings'>
  readonly #log: Log
  /** The notch as of the last reading. */
  #seen: number | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #tenants: ReadonlyMap<string, Own> = new Map()

  constructor(engine: Pick<Engine, 'settings'>, log: Log) {
    this.#engine = engine
    this.#log = log
  }

  /** One look. Throws where the store cannot be read: then nobody knows what holds. */
  async look(): Promise<void> {
    const [read] = await this.#engine.settings([NOTCH])
    const notch = read?.settings[0]?.rev ?? 0
    const now = read?.now ?? 0
    const restMs = notch === this.#seen ? ANYWAY_MS : PAUSE_MS
    if (now < this.#readAt + restMs) return
    const found = await this.#everybodys()
    const tenants = new Map<string, Own>()
    for (const [tenant, settings] of found) tenants.set(tenant, this.#own(tenant, settings))
    this.#tenants = tenants
    // What was set while this was read has turned the notch once more.
    this.#seen = notch
    this.#readAt = now
  }

  /** `none`: the tenant has set nothing. Undefined: nothing of it may be judged now. */
  of(tenant: string): Snapshot | 'none' | undefined {
    const own = this.#tenants.get(tenant)
    return own === undefined ? 'none' : own.snapshot
  }

  #own(tenant: string, settings: readonly Setting[]): Own {
    const revs = settings.map(({ key, rev, updatedAt }) => `${key} ${rev} ${updatedAt}`).join('\n')
    const before = this.#tenants.get(tenant)
    if (before?.revs === revs) return before
    const compiled = snapshotOf(tenant, settings)
    if ('snapshot' in compiled) {
      const { hash, rules } = compiled.snapshot
      this.#log.info('a policy of a tenant is in force', { tenant, policy: hash, rules: rules.length })
      return { revs, snapshot: compiled.snapshot }
    }
    for (const fault of compiled.faults)
      this.#log.error('a policy of a tenant is broken: its jobs wait', { tenant, place: faultText(fault) })
    return { revs, snapshot: undefined }
  }

  async #everybodys(): Promise<ReadonlyMap<string, readonly Setting[]>> {
    const found = new Map<string, Setting[]>()
    for (let after = ''; ; ) {
      const [page] = await this.#engine.settings([{ op: 'list', collection: 'policy', after, limit: PAGE }])
      const settings = page?.settings ?? []
      for (const setting of settings) {
        const tenant = tenantIn(setting.key)
        if (tenant !== undefined) found.set(tenant, [...(found.get(tenant) ?? []), setting])
      }
      const last = settings.at(-1)
      if (last === undefined || settings.length < PAGE) return found
      after = last.key
    }
  }
}

/** Undefined: the notch, which is nobody's. */
const tenantIn = (key: string): string | undefined =>
  key.startsWith('[') ? String((JSON.parse(key) as readonly unknown[])[0]) : undefined
