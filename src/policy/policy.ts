/** From the files of a policy to its snapshot, or to all that is wrong with them. */
import { z } from 'zod'
import { LENGTHS } from '../core/limits.ts'
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

/**
 * Rules and routes hold in the order of the files' names, then in the order in which they are written. `owner`: the tenant whose own they
 * are. They are for nobody else, and are told by the name of their file and their id, so that nobody takes them for the installation's.
 */
export function compile(files: readonly SourceFile[], owner?: string): Compiled {
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
      const name = owner === undefined ? id : `${file.name}/${id}`
      const first = places.get(name)
      if (first === undefined) places.set(name, `${file.name}:${at.line}`)
      else {
        const rule = `is the id of a rule or route already, at ${first}`
        faults.push({ file: file.name, ...at, field: `${list}[${i}].id`, rule })
      }
    }
    const owned = <Entry extends Rule | RouteRule>(list: 'rules' | 'routes', i: number, entry: Entry): Entry => {
      if (owner === undefined) return entry
      const id = `${file.name}/${entry.id}`
      const fault = (field: string, rule: string) =>
        faults.push({ file: file.name, ...found.placeOf([list, i, field]), field: `${list}[${i}].${field}`, rule })
      if (entry.tenants?.some((tenant) => tenant !== owner))
        fault('tenants', `is for other tenants: what is set for ${owner} is for ${owner}`)
      if (id.length > LENGTHS.name)
        fault('id', `must have at most ${LENGTHS.name} letters with its policy’s name before it`)
      return { ...entry, id }
    }
    for (const [i, rule] of found.value.rules.entries()) {
      known('rules', i, rule)
      rules.push(owned('rules', i, rule))
    }
    for (const [i, route] of (found.value.routes ?? []).entries()) {
      known('routes', i, route)
      routes.push(owned('routes', i, route))
    }
  }
  if (rules.length + routes.length > RULES_MOST)
    faults.push({ file: '', line: 1, column: 1, field: undefined, rule: `more than ${RULES_MOST} rules and routes` })
  return faults.length > 0 ? { faults } : { snapshot: new Snapshot(rules, routes) }
}
