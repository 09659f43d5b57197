/**
 * Whether keys have counted all that the logs say: what was spent in the window of a budget, and claims within that of a rate. Logs are
 * held against keys and not the other way round: what keys have counted outlives jobs that are removed, and logs that are shortened.
 */
import type { Event } from '../core/event.ts'
import { decodeKeyLog } from '../core/flow/document.ts'
import { windowAt } from '../core/flow/slots.ts'
import { type Uses, usesIn } from '../core/flow/uses.ts'
import type { Job, Time } from '../core/job.ts'
import type { KeyView, Mend } from '../store/store.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'

type Asked = Pick<Engine, 'events'>

interface Use {
  readonly windowMs: number
  readonly claims: Time[]
  readonly spends: Uses['spends'][number][]
}

const PAGE = 200
/** Sums of what is no whole number differ in the last digits, by the order in which they were added up. */
const ABOUT = 1e-9

export class KeyUses {
  readonly #uses = new Map<string, Use>()
  readonly #begun: Time

  private constructor(begun: Time) {
    this.#begun = begun
  }

  /** Keeps what it hears of keys that have a rate or a budget, as far back as these reach. */
  static async of(engine: Asked & Pick<Engine, 'now'>, tenants: ReadonlySet<string>): Promise<KeyUses> {
    const uses = new KeyUses(engine.now())
    for (const tenant of tenants)
      for await (const { key, gate } of viewsOf(engine, tenant)) {
        const windowMs = Math.max(gate.rate === undefined ? 0 : gate.rateMs, gate.budget === undefined ? 0 : gate.perMs)
        if (windowMs > 0) uses.#uses.set(nameOf(tenant, key), { windowMs, claims: [], spends: [] })
      }
    return uses
  }

  /** A job was looked at, with its log. */
  note({ spec }: Job, log: readonly Event[]): void {
    for (const key of spec.flow?.keys ?? []) {
      const use = this.#uses.get(nameOf(spec.kind.tenant, key))
      if (use === undefined) continue
      const { claims, spends } = usesIn(log, key, this.#begun - use.windowMs)
      use.claims.push(...claims)
      use.spends.push(...spends)
    }
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0
  }

  /** Of a tenant's keys: by how much what they count as spent is less than what logs have, and which claims they do not count. */
  async uncounted(engine: Asked, tenant: string): Promise<Pick<Mend, 'spent' | 'claims'>> {
    const spent: Mend['spent'][number][] = []
    const claims: Mend['claims'][number][] = []
    for await (const view of viewsOf(engine, tenant)) {
      const { key, count } = view
      const use = this.#uses.get(nameOf(tenant, key))
      if (use === undefined) continue
      const sum = spentIn(view, use)
      if (sum - count.spent > ABOUT * sum) spent.push({ key, amount: sum - count.spent })
      const within = claimsIn(view, use)
      // The newest: whichever they were, no more start than may.
      const lacking = Math.max(0, within.length - count.started)
      claims.push(...within.slice(within.length - lacking).map((at) => ({ key, at })))
    }
    return { spent, claims }
  }

  async discrepancies(engine: Asked, tenants: ReadonlySet<string>): Promise<readonly Discrepancy[]> {
    const found: Discrepancy[] = []
    if (this.#uses.size === 0) return found
    for (const tenant of tenants)
      for await (const view of viewsOf(engine, tenant)) {
        const use = this.#uses.get(nameOf(tenant, view.key))
        if (use !== undefined) found.push(...lacking(view, use))
      }
    return found
  }
}

/** What a number that was set since has begun to count, nobody has counted before. */
function lacking(view: KeyView & { readonly now: Time }, { claims, spends }: Use): readonly Discrepancy[] {
  const { key, gate, count } = view
  const found: Discrepancy[] = []
  const tell = (what: string) => found.push({ job: undefined, about: 'slot', invariant: undefined, what })
  const within = claimsIn(view, { claims }).length
  if (gate.rate !== undefined && within > count.started)
    tell(`key ${key} counts ${count.started} starts within ${gate.rateMs} ms, and logs have ${within} claims`)
  const sum = spentIn(view, { spends })
  if (gate.budget !== undefined && sum - count.spent > ABOUT * sum)
    tell(`key ${key} counts ${count.spent} spent of its window, and logs have ${sum}`)
  return found
}

/** Claims within the window of its rate, since its number was set, the oldest first. */
function claimsIn(
  { gate, log, now }: KeyView & { readonly now: Time },
  { claims }: Pick<Use, 'claims'>,
): readonly Time[] {
  if (gate.rate === undefined) return []
  return claims.filter((at) => at > setAt(log) && at > now - gate.rateMs).sort((a, b) => a - b)
}

/** What logs have spent in the present window, since its number was set. */
function spentIn({ gate, log, now }: KeyView & { readonly now: Time }, { spends }: Pick<Use, 'spends'>): number {
  if (gate.budget === undefined) return 0
  const window = windowAt(gate, now)
  return spends
    .filter(({ at }) => at > setAt(log) && windowAt(gate, at) === window)
    .reduce((all, { amount }) => all + amount, 0)
}

/** When the numbers of a key were last set. */
const setAt = (log: string | undefined): Time => decodeKeyLog(log).findLast(({ type }) => type === 'limited')?.at ?? 0

async function* viewsOf(engine: Asked, tenant: string): AsyncGenerator<KeyView & { readonly now: Time }> {
  let cursor: string | undefined
  do {
    const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor })
    for (const view of page.keys ?? []) yield { ...view, now: page.now }
    cursor = page.cursor
  } while (cursor !== undefined)
}

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])
