/**
 * What all rules that concern a job come to. Forbid overrides permit: one `deny` is enough. Nothing is allowed that no rule
 * allows. A rule that cannot be told (its condition asks for a key that is not there) never opens the gate: an `allow` like that allows
 * nothing, and any other denies, since what it would have asked for is not known.
 */
import type { RouteRule } from './route.ts'
import type { Constraint, Decision, Rule } from './rule.ts'

export type Finding =
  | { readonly rule: Rule; readonly applies: boolean }
  | { readonly rule: Rule; readonly applies: 'unknown'; readonly why: string }

export interface Judgement {
  /** The strictest of what the rules say. */
  readonly decision: Decision
  /** Whose word that is. */
  readonly rule: string
  readonly policyHash: string
  readonly reason: string | undefined
  /** Of `require_approval`. */
  readonly approval: { readonly expiresMs: number; readonly fourEyes: boolean } | undefined
  /** Of every rule that constrains, the narrowest. */
  readonly constraint: Constraint | undefined
  /** Where it goes instead. */
  readonly topic: string | undefined
  /** The key whose limit holds. */
  readonly key: string | undefined
  /** Who may have it, where the policy has routes. */
  readonly route: RouteRule | undefined
}

/** Whose word it is where no rule says anything. */
export const NO_RULE = 'no_rule'

export function judgementOf(findings: readonly Finding[], policyHash: string): Judgement {
  let judgement: Judgement = {
    decision: 'deny',
    rule: NO_RULE,
    policyHash,
    reason: 'No rule allows it.',
    approval: undefined,
    constraint: undefined,
    topic: undefined,
    key: undefined,
    route: undefined,
  }
  for (const finding of findings) {
    const { rule } = finding
    if (finding.applies === 'unknown') {
      if (rule.decision === 'allow') continue
      return { ...judgement, decision: 'deny', rule: rule.id, reason: `The rule cannot be told: ${finding.why}` }
    }
    if (!finding.applies) continue
    // The strictest comes first, and has the word; those behind it add what they ask for.
    if (judgement.rule === NO_RULE)
      judgement = { ...judgement, decision: rule.decision, rule: rule.id, reason: rule.reason }
    judgement = { ...judgement, ...asked(rule, judgement) }
  }
  return judgement
}

function asked(rule: Rule, { approval, constraint, topic, key }: Judgement): Partial<Judgement> {
  switch (rule.decision) {
    case 'require_approval': {
      const { expires, fourEyes } = rule
      return {
        approval: {
          expiresMs: Math.min(expires, approval?.expiresMs ?? expires),
          fourEyes: fourEyes || approval?.fourEyes === true,
        },
      }
    }
    case 'throttle':
      return { key: key ?? rule.key }
    case 'redirect':
      return { topic: topic ?? rule.topic }
    case 'constrain':
      return { constraint: narrowest(rule.constrain, constraint) }
    default:
      return {}
  }
}

/** Each bound the narrower of both; of labels that two rules say differently, the stricter rule's. */
function narrowest(one: Constraint, other: Constraint | undefined): Constraint {
  if (other === undefined) return one
  const timeout = least(one.timeout, other.timeout)
  const attempts = least(one.attempts, other.attempts)
  const concurrency = least(one.concurrency, other.concurrency)
  const labels = { ...one.labels, ...other.labels }
  return {
    ...(timeout !== undefined && { timeout }),
    ...(attempts !== undefined && { attempts }),
    ...(concurrency !== undefined && { concurrency }),
    ...(Object.keys(labels).length > 0 && { labels }),
  }
}

const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)
