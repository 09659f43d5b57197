/** From the files of a policy to its snapshot, or to all that is wrong with them. */
import { z } from 'zod'
import { type RouteRule, routeSchema } from './route.ts'
import { type Rule, ruleSchema } from './rule.ts'
import { Snapshot } from './snapshot.ts'
import { type Fault, read, type SourceFile } from './source.ts'

export const RULES_MOST = 20_000

const policySchema = z.strictObject({
  rules: z.array(ruleSchema).max(RULES_MOST).default([]),
  routes: z.array(routeSchema).max(RULES_MOST).optional(),
})

export type Compiled = { readonly snapshot: Snapshot } | { readonly faults: readonly Fault[] }

/** Rules and routes hold in the order of the files' names, then in the order in which they are written. */
export function compile(files: readonly SourceFile[]): Compiled {
  const rules: Rule[] = []
  const routes: RouteRule[] = []
  const faults: Fault[] = []
  const places = new Map<string, string>()
  for (const file of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = read(file, policySchema)
    if ('faults' in found) {
      faults.push(...found.faults)
      continue
    }
    const known = (list: 'rules' | 'routes', i: number, { id }: { readonly id: string }): void => {
      const at = found.placeOf([list, i, 'id'])
      const first = places.get(id)
      if (first === undefined) places.set(id, `${file.name}:${at.line}`)
      else {
        const rule = `is the id of a rule or route already, at ${first}`
        faults.push({ file: file.name, ...at, field: `${list}[${i}].id`, rule })
      }
    }
    for (const [i, rule] of found.value.rules.entries()) {
      known('rules', i, rule)
      rules.push(rule)
    }
    for (const [i, route] of (found.value.routes ?? []).entries()) {
      known('routes', i, route)
      routes.push(route)
    }
  }
  if (rules.length + routes.length > RULES_MOST)
    faults.push({ file: '', line: 1, column: 1, field: undefined, rule: `more than ${RULES_MOST} rules and routes` })
  return faults.length > 0 ? { faults } : { snapshot: new Snapshot(rules, routes) }
}
