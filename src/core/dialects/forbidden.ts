/** What the policy of a bound job asks for although its document has no moves for it. */
import type { Policy } from '../policy.ts'
import type { Violation } from '../refusal.ts'
import { DIALECTS } from './registry.ts'

export function forbidden(policy: Policy): readonly Violation[] {
  const { dialect } = policy
  if (dialect === undefined || !Object.hasOwn(DIALECTS, dialect)) return NOTHING
  return DIALECTS[dialect].forbids
    .filter(({ asksFor }) => asksFor(policy))
    .map(({ field, why }) => ({ field, rule: `document ${dialect} cannot tell it: ${why}` }))
}

const NOTHING: readonly Violation[] = []
