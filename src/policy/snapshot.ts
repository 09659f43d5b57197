/**
 * A policy: all rules and routes there are at a time, known by the hash of what they say. It never changes; another set of rules is
 * another snapshot.
 */
import { sha256 } from '../system/digest.ts'
import { type Expression, Untellable } from './expression.ts'
import { type Described, JobFacts } from './facts.ts'
import { type Finding, type Judgement, judgementOf } from './judgement.ts'
import type { RouteRule } from './route.ts'
import { DECISIONS, type Rule } from './rule.ts'
import { Table } from './table.ts'
import { denied, type Stations, walked } from './walk.ts'

/** Whose word it is where no route takes a job. */
export const NO_ROUTE = 'no_route'

export class Snapshot implements Stations {
  /** Of all that its rules and routes say, in their order: 32 hexadecimal digits. */
  readonly hash: string
  readonly rules: readonly Rule[]
  readonly routes: readonly RouteRule[]
  readonly #rules: Table<Rule>
  readonly #routes: Table<RouteRule>

  constructor(rules: readonly Rule[], routes: readonly RouteRule[] = []) {
    this.rules = rules
    this.routes = routes
    this.hash = sha256(JSON.stringify(routes.length === 0 ? rules : [rules, routes])).slice(0, 32)
    this.#rules = new Table(rules, (a, b) => strictness(a) - strictness(b))
    this.#routes = new Table(routes)
  }

  judge(job: Described): Judgement {
    return walked(job, this)
  }

  /** What the rules of one topic say. */
  look(facts: JobFacts): Judgement {
    const findings: Finding[] = []
    for (const rule of this.#rules.concerning(facts.tenant, facts.topic)) {
      const finding = findingOf(rule, facts)
      if (finding === undefined) continue
      findings.push(finding)
      // The strictest come first: nothing that follows a denial changes it.
      if (rule.decision === 'deny') break
    }
    return judgementOf(findings, this.hash, facts.topic)
  }

  /** What each rule that concerns a job says about it, for whoever wants to know why. */
  findings(job: Described, sentTo?: string): readonly Finding[] {
    const facts = new JobFacts(job, sentTo)
    return this.#rules
      .concerning(facts.tenant, facts.topic)
      .map((rule) => findingOf(rule, facts) ?? { rule, applies: false })
  }

  /** The first route that takes it. One that cannot be told might have been the one: then nobody has it. */
  route(judgement: Judgement, facts: JobFacts): Judgement {
    if (this.routes.length === 0) return judgement
    const { topic } = facts
    for (const route of this.#routes.concerning(facts.tenant, topic)) {
      const told = toldOf(route.when, facts)
      if (told.holds === 'unknown') return denied(judgement, route.id, `The route cannot be told: ${told.why}`)
      if (told.holds) return { ...judgement, route }
    }
    return denied(judgement, NO_ROUTE, `No route takes topic ${topic}.`)
  }
}

const strictness = ({ decision }: Rule): number => DECISIONS.indexOf(decision)

/** Undefined: the rule does not apply. */
function findingOf(rule: Rule, facts: JobFacts): Finding | undefined {
  const told = toldOf(rule.when, facts)
  if (told.holds === 'unknown') return { rule, applies: 'unknown', why: told.why }
  return told.holds ? { rule, applies: true } : undefined
}

type Told = { readonly holds: boolean } | { readonly holds: 'unknown'; readonly why: string }

function toldOf(when: Expression | undefined, facts: JobFacts): Told {
  if (when === undefined) return ALWAYS
  try {
    return { holds: when.holds(facts) }
  } catch (error) {
    if (!(error instanceof Untellable)) throw error
    return { holds: 'unknown', why: error.message }
  }
}

const ALWAYS: Told = { holds: true }
