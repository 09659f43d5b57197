/** One route of a policy: where jobs of some topics go when they are let in, and what their workers must be able to do. */
import { z } from 'zod'
import type { Present } from '../core/admission.ts'
import { SIZES } from '../core/limits.ts'
import { type Route, whatText, whereText } from '../core/needs.ts'
import { common, name } from './rule.ts'

const { id, tenants, topics, when } = common

/** Pools that one route may choose among. */
const POOLS_MOST = 16

const pools = z
  .union([name, z.array(name).min(1).max(POOLS_MOST)])
  .transform((some): readonly string[] => (typeof some === 'string' ? [some] : some))

export const routeSchema = z.strictObject({
  id,
  tenants,
  topics,
  when,
  pool: pools
    .optional()
    .describe(
      'whose workers have it; of several the first that has one who can; unless given, all who claim from its queue',
    ),
  requires: z.array(name).min(1).max(SIZES.requires).optional().describe('what its worker must be able to do'),
  nobody: z.enum(['wait', 'deny']).default('wait').describe('what becomes of it while no live worker can'),
})

export type RouteRule = z.output<typeof routeSchema>

export type Routed = { readonly route: Route } | { readonly nobody: string }

/** Whether who is there decides anything. */
export const asksWhoIsThere = ({ pool = [], nobody }: RouteRule): boolean => pool.length > 1 || nobody === 'deny'

/**
 * Which pool of a route: the first with a live worker that can do what is required; before those, one whose worker can do what the
 * adapter hints at. Undefined `present`: nobody knows who is there, and the first has it.
 */
export function routed(
  rule: RouteRule,
  adapterId: string | undefined,
  present: readonly Present[] | undefined,
): Routed {
  const { pool: pools = [undefined], requires: capabilities = [], nobody } = rule
  const can = (pool: string | undefined, all: readonly string[]) =>
    present?.some((each) => (pool === undefined || each.pool === pool) && all.every((one) => each.can.includes(one)))
  const able = pools.filter((pool) => can(pool, capabilities))
  const hinted = adapterId && able.find((pool) => can(pool, [...capabilities, adapterId]))
  if (nobody === 'deny' && present !== undefined && able.length === 0)
    return { nobody: `No live worker${whereText(...pools)}${whatText(capabilities)}.` }
  return { route: { pool: hinted || (able[0] ?? pools[0]), capabilities } }
}
