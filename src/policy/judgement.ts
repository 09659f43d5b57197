/**
 * What all rules that concern a job come to. Forbid overrides permit: one `deny` is enough. Nothing is allowed that no rule
 * allows. A rule that cannot be told (its condition asks for a key that is not there) never opens the gate: an `allow` like that allows
 * nothing, and any other denies, since what it would have asked for is not known.
 */
import { ruleName } from '../core/flow/document.ts'
import type { Redirect, Throttle } from '../core/recast.ts'
import type { RouteRule } from './route.ts'
import { type Constraint, DECISIONS, type Decision, type Rule } from './rule.ts'

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
  /** Of every rule that constrains, the narrowest. How many run at once is the limit of a key. */
  readonly constraint: Omit<Constraint, 'concurrency'> | undefined
  /** Where it goes instead, topic by topic. */
  readonly redirects: readonly Redirected[]
  /** The keys whose limits hold. */
  readonly throttles: readonly Throttle[]
  /** Who may have it, where the policy has routes. */
  readonly route: RouteRule | undefined
}

export type Redirected = Pick<Redirect, 'from' | 'to' | 'rule'>

/** Whose word it is where no rule says anything. */
export const NO_RULE = 'no_rule'

/** `topic`: what the job is addressed to as these rules have seen it. */
export function judgementOf(findings: readonly Finding[], policyHash: string, topic: string): Judgement {
  let judgement: Judgement = {
    decision: 'deny',
    rule: NO_RULE,
    policyHash,
    reason: 'No rule allows it.',
    approval: undefined,
    constraint: undefined,
    redirects: [],
    throttles: [],
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
    judgement = { ...judgement, ...asked(rule, judgement, topic) }
  }
  return judgement
}

function asked(
  rule: Rule,
  { approval, constraint, redirects, throttles }: Judgement,
  topic: string,
): Partial<Judgement> {
  switch (rule.decision) {
    case 'require_approval':
      return { approval: strictest({ expiresMs: rule.expires, fourEyes: rule.fourEyes }, approval) }
    case 'throttle':
      return { throttles: under(throttles, [{ key: rule.key, rule: rule.id, limit: rule.limit }]) }
    case 'redirect':
      // The first has the word; to where it is already nobody is sent.
      return redirects.length > 0 || rule.topic === topic
        ? {}
        : { redirects: [{ from: topic, to: rule.topic, rule: rule.id }] }
    case 'constrain': {
      const { concurrency, ...narrow } = rule.constrain
      const limit = concurrency === undefined ? [] : [{ key: ruleName(rule.id), rule: rule.id, limit: { concurrency } }]
      return { constraint: narrowest(narrow, constraint), throttles: under(throttles, limit) }
    }
    default:
      return {}
  }
}

/** What two looks at a job come to, as it was addressed and as it was then sent on: all that either asks for, and the stricter word. */
export const both = (first: Judgement, then: Judgement): Judgement =>
  together(first, then, [...first.redirects, ...then.redirects])

/** The same of two policies that look at it where it is: of both that send it elsewhere, the first has the word. */
export const beside = (first: Judgement, other: Judgement): Judgement =>
  together(
    first,
    { ...other, policyHash: first.policyHash },
    first.redirects.length > 0 ? first.redirects : other.redirects,
  )

function together(first: Judgement, then: Judgement, redirects: Judgement['redirects']): Judgement {
  if (then.decision === 'deny') return { ...then, redirects }
  const { decision, rule, reason } = strictness(then.decision) < strictness(first.decision) ? then : first
  return {
    ...then,
    decision,
    rule,
    reason,
    redirects,
    approval: first.approval === undefined ? then.approval : strictest(first.approval, then.approval),
    constraint: first.constraint === undefined ? then.constraint : narrowest(then.constraint ?? {}, first.constraint),
    throttles: under(first.throttles, then.throttles),
  }
}

const strictness = (decision: Decision): number => DECISIONS.indexOf(decision)

type Approval = NonNullable<Judgement['approval']>

const strictest = (one: Approval, other: Approval | undefined): Approval => ({
  expiresMs: Math.min(one.expiresMs, other?.expiresMs ?? one.expiresMs),
  fourEyes: one.fourEyes || other?.fourEyes === true,
})

/** Of a key that two rules name, the numbers of the stricter one. */
const under = (throttles: readonly Throttle[], more: readonly Throttle[]): readonly Throttle[] => [
  ...throttles,
  ...more.filter(({ key }) => throttles.every((each) => each.key !== key)),
]

type Narrow = Omit<Constraint, 'concurrency'>

/** Each bound the narrower of both; of labels that two rules say differently, the stricter rule's. */
function narrowest(one: Narrow, other: Narrow | undefined): Narrow {
  if (other === undefined) return one
  const timeout = least(one.timeout, other.timeout)
  const attempts = least(one.attempts, other.attempts)
  const labels = { ...one.labels, ...other.labels }
  return {
    ...(timeout !== undefined && { timeout }),
    ...(attempts !== undefined && { attempts }),
    ...(Object.keys(labels).length > 0 && { labels }),
  }
}

const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)
