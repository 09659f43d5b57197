/**
 * Whether keys have counted what the logs say: what was spent in the window of a budget, and claims within that of a rate. What keys have
 * counted outlives jobs that are removed, and logs that are shortened: that a budget counts too much can only be said where nothing
 * of its window can have gone with these (`spent-by-purged.ts`), and where nothing moved between the logs and the keys.
 */
import type { Event } from '../core/event.ts'
import { decodeKeyLog } from '../core/flow/document.ts'
import { windowAt } from '../core/flow/slots.ts'
import { countsSince, type Uses, usesIn } from '../core/flow/uses.ts'
import type { Job, Time } from '../core/job.ts'
import type { KeyView, Mend } from '../store/store.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'
import { spentByPurgedUntil } from './spent-by-purged.ts'

type Asked = Pick<Engine, 'events'>

interface Use {
  readonly windowMs: number
  readonly claims: Time[]
  readonly spends: Uses['spends'][number][]
}

const PAGE = 200
/** Sums of what is no whole number differ in the last digits, by the order in which they were added up. */
const ABOUT = 1e-9
/** What was spent at the very end of a window by the clock of a process may have been counted in the next one by the store's. */
const SLACK_MS = 60_000

/** A budget that counts more than logs have: at most `most`. */
export interface Beyond {
  readonly tenant: string
  readonly key: string
  readonly spent: number
  readonly most: number
}

export const tooMuch = ({ key, spent, most }: Beyond): Discrepancy => ({
  job: undefined,
  about: 'slot',
  invariant: undefined,
  what: `key ${key} counts ${spent} spent of its window, and logs have ${most}`,
})

export class KeyUses {
  readonly #uses = new Map<string, Use>()
  readonly #begun: Time
  /** Until when logs that were looked at have lost what they said. */
  #lostUntil: Time = 0

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
      const { claims, spends, lostUntil } = usesIn(log, key, this.#begun - use.windowMs - SLACK_MS)
      use.claims.push(...claims)
      use.spends.push(...spends)
      this.#lostUntil = Math.max(this.#lostUntil, lostUntil)
    }
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0
  }

  /**
   * Of a tenant's keys: by how much what they count as spent is less than what logs have, and which claims they do not count. Of `beyond`:
   * by how much it is more, as an amount below zero.
   */
  async uncounted(engine: Asked, tenant: string, beyond: readonly Beyond[]): Promise<Pick<Mend, 'spent' | 'claims'>> {
    const spent: Mend['spent'][number][] = []
    const claims: Mend['claims'][number][] = []
    for await (const view of viewsOf(engine, tenant)) {
      const { key, count } = view
      const use = this.#uses.get(nameOf(tenant, key))
      if (use === undefined) continue
      const sum = spentIn(view, use)
      const over = beyond.find((each) => each.tenant === tenant && each.key === key && each.spent === count.spent)
      if (sum - count.spent > ABOUT * sum) spent.push({ key, amount: sum - count.spent })
      else if (over !== undefined) spent.push({ key, amount: over.most - over.spent })
      const within = claimsIn(view, use)
      // The newest: whichever they were, no more start than may.
      const lacking = Math.max(0, within.length - count.started)
      claims.push(...within.slice(within.length - lacking).map((at) => ({ key, at })))
    }
    return { spent, claims }
  }

  /**
   * Budgets that count more than all logs have of their window. True where every log was looked at, and nothing has moved since the
   * first of them: `isStill` is asked once the keys have been read.
   */
  async beyond(
    engine: Asked & Pick<Engine, 'settings'>,
    tenants: Iterable<string>,
    isStill: () => Promise<boolean>,
  ): Promise<readonly Beyond[]> {
    const found: Beyond[] = []
    const lostUntil = this.isEmpty ? 0 : Math.max(this.#lostUntil, await spentByPurgedUntil(engine))
    for (const tenant of this.isEmpty ? [] : tenants)
      for await (const { key, gate, count, now } of viewsOf(engine, tenant)) {
        const use = this.#uses.get(nameOf(tenant, key))
        const began = windowAt(gate, now) * gate.perMs - SLACK_MS
        if (use === undefined || gate.budget === undefined || lostUntil >= began) continue
        const most = sumOf(use.spends.filter(({ at }) => at >= began))
        if (count.spent - most > ABOUT * count.spent) found.push({ tenant, key, spent: count.spent, most })
      }
    return found.length > 0 && (await isStill()) ? found : []
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

/** Claims within the window of its rate, since it counts them, the oldest first. */
function claimsIn(
  { gate, log, now }: KeyView & { readonly now: Time },
  { claims }: Pick<Use, 'claims'>,
): readonly Time[] {
  if (gate.rate === undefined) return []
  const since = countsSince(decodeKeyLog(log), 'rate')
  return claims.filter((at) => at > since && at > now - gate.rateMs).sort((a, b) => a - b)
}

/** What logs have spent in the present window, since it is counted. */
function spentIn({ gate, log, now }: KeyView & { readonly now: Time }, { spends }: Pick<Use, 'spends'>): number {
  if (gate.budget === undefined) return 0
  const window = windowAt(gate, now)
  const since = countsSince(decodeKeyLog(log), 'budget')
  return sumOf(spends.filter(({ at }) => at > since && windowAt(gate, at) === window))
}

const sumOf = (spends: Use['spends']): number => spends.reduce((all, { amount }) => all + amount, 0)

async function* viewsOf(engine: Asked, tenant: string): AsyncGenerator<KeyView & { readonly now: Time }> {
  let cursor: string | undefined
  do {
    const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor })
    for (const view of page.keys ?? []) yield { ...view, now: page.now }
    cursor = page.cursor
  } while (cursor !== undefined)
}

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])
