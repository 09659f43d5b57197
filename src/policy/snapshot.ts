/**
 * A policy: all rules there are at a time, known by the hash of what they say. It never changes; another set of rules is another
 * snapshot. Rules are found by tenant and topic, so that a job costs what concerns it, however many others there are.
 */
import { reasonOf } from '../core/reason.ts'
import { sha256 } from '../system/digest.ts'
import { type Described, JobFacts, topicOf } from './facts.ts'
import { type Finding, type Judgement, judgementOf } from './judgement.ts'
import { DECISIONS, type Rule } from './rule.ts'
import { TopicIndex } from './topics.ts'

/** Lists that were made for a tenant and a topic are kept for as many of them. */
const REMEMBERED = 10_000

export class Snapshot {
  /** Of all that its rules say, in their order: 32 hexadecimal digits. */
  readonly hash: string
  readonly rules: readonly Rule[]
  readonly #everybodys = new TopicIndex<Placed>()
  readonly #tenants = new Map<string, TopicIndex<Placed>>()
  /** By tenant, then topic: what concerns it, in the order in which it is asked. */
  readonly #concerned = new Map<string, Map<string, readonly Rule[]>>()
  #remembered = 0

  constructor(rules: readonly Rule[]) {
    this.rules = rules
    this.hash = sha256(JSON.stringify(rules)).slice(0, 32)
    for (const [place, rule] of rules.entries()) {
      for (const index of this.#indexesFor(rule))
        for (const pattern of rule.topics ?? ['>']) index.add(pattern, { rule, place })
    }
  }

  judge(job: Described): Judgement {
    const facts = new JobFacts(job)
    const findings: Finding[] = []
    for (const rule of this.#concerning(facts.tenant, topicOf(job))) {
      const finding = findingOf(rule, facts)
      if (finding === undefined) continue
      findings.push(finding)
      // The strictest come first: nothing that follows a denial changes it.
      if (rule.decision === 'deny') break
    }
    return judgementOf(findings, this.hash)
  }

  /** What each rule that concerns a job says about it, for whoever wants to know why. */
  findings(job: Described): readonly Finding[] {
    const facts = new JobFacts(job)
    return this.#concerning(facts.tenant, topicOf(job)).map(
      (rule) => findingOf(rule, facts) ?? { rule, applies: false },
    )
  }

  #indexesFor({ tenants }: Rule): readonly TopicIndex<Placed>[] {
    if (tenants === undefined) return [this.#everybodys]
    return tenants.map((tenant) => {
      const index = this.#tenants.get(tenant) ?? new TopicIndex<Placed>()
      this.#tenants.set(tenant, index)
      return index
    })
  }

  #concerning(tenant: string, topic: string): readonly Rule[] {
    const known = this.#concerned.get(tenant)?.get(topic)
    if (known !== undefined) return known
    const found = [...this.#everybodys.find(topic), ...(this.#tenants.get(tenant)?.find(topic) ?? [])]
    const rules = inOrder(found)
    // Topics are whatever producers make up.
    if (this.#remembered >= REMEMBERED) {
      this.#concerned.clear()
      this.#remembered = 0
    }
    this.#remembered += 1
    const topics = this.#concerned.get(tenant) ?? new Map<string, readonly Rule[]>()
    topics.set(topic, rules)
    this.#concerned.set(tenant, topics)
    return rules
  }
}

interface Placed {
  readonly rule: Rule
  readonly place: number
}

/** The strictest first; among equals in the order in which they are written. Each once, under however many patterns it was found. */
const inOrder = (found: readonly Placed[]): readonly Rule[] => [
  ...new Set(
    found.toSorted((a, b) => strictness(a.rule) - strictness(b.rule) || a.place - b.place).map(({ rule }) => rule),
  ),
]

const strictness = ({ decision }: Rule): number => DECISIONS.indexOf(decision)

/** Undefined: the rule does not apply. */
function findingOf(rule: Rule, facts: JobFacts): Finding | undefined {
  if (rule.when === undefined) return { rule, applies: true }
  try {
    return rule.when.holds(facts) ? { rule, applies: true } : undefined
  } catch (error) {
    return { rule, applies: 'unknown', why: reasonOf(error).split('\n', 1)[0] ?? '' }
  }
}
