/** The ways to a database that a store has: one for all, or others besides for what does not go through a pool or a pooler. */
import type { PostgresPool } from './address.ts'
import { heldFrom } from './held.ts'
import { lentBy } from './lent.ts'
import { mustSuffice } from './pool.ts'
import { Route, type RouteParts } from './route.ts'
import { type Address, targetOf } from './target.ts'

interface Addresses {
  readonly url: Address
  readonly directUrl?: Address | undefined
  readonly pool?: PostgresPool | undefined
}

export interface Ways {
  readonly route: Route
  /** For LISTEN and transactions: past a pooler, where there is a way. */
  readonly past: Route
  /** For what a call looks up before it writes. Out of a pool that callers' transactions may have used up this is a way of its own. */
  readonly looks: Route
}

export function waysOf({ url, directUrl, pool }: Addresses, system: Omit<RouteParts, 'target'>): Ways {
  if (pool !== undefined) mustSuffice(pool)
  const connect = pool === undefined ? system.connect : lentBy({ ...system, pool })
  const route = new Route({ ...system, connect, target: targetOf(url) })
  if (directUrl !== undefined) {
    const past = new Route({ ...system, target: targetOf(directUrl) })
    return { route, past, looks: pool === undefined ? route : past }
  }
  if (pool === undefined) return { route, past: route, looks: route }
  const past = new Route({ ...system, connect: heldFrom({ ...system, pool }), target: targetOf(url) })
  return { route, past, looks: past }
}
