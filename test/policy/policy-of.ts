import { routeSchema } from '../../src/policy/route.ts'
import { ruleSchema } from '../../src/policy/rule.ts'
import { Snapshot } from '../../src/policy/snapshot.ts'

/** A policy of rules as they are written, those included that no file may have yet. */
export const policyOf = (...rules: readonly object[]): Snapshot =>
  new Snapshot(rules.map((rule) => ruleSchema.parse(rule)))

/** One that allows everything, with these routes. */
export const routing = (...routes: readonly object[]): Snapshot =>
  new Snapshot(
    [ruleSchema.parse({ id: 'everything', decision: 'allow' })],
    routes.map((route) => routeSchema.parse(route)),
  )
