/**
 * Policies as a judge of jobs: those of a folder, those that tenants have set, or both, and what they come to in the words of core.
 */

import type { Judged, Present } from '../core/admission.ts'
import { assert } from '../core/assert.ts'
import type { Job } from '../core/job.ts'
import type { PolicyFolder } from './folder.ts'
import type { Judgement } from './judgement.ts'
import { Layered } from './layered.ts'
import { asksWhoIsThere, type RouteRule, routed } from './route.ts'
import type { PolicySettings } from './settings.ts'
import { Snapshot } from './snapshot.ts'

export class PolicyJudge {
  /** Absent: what tenants have set is all there is. */
  readonly #folder: PolicyFolder | undefined
  readonly #settings: PolicySettings
  readonly #layered = new Map<string, Layered>()

  constructor(folder: PolicyFolder | undefined, settings: PolicySettings) {
    this.#folder = folder
    this.#settings = settings
  }

  async look(): Promise<boolean> {
    this.#folder?.look()
    if (this.#folder !== undefined && this.#folder.snapshot === undefined) return false
    await this.#settings.look()
    return true
  }

  /** Undefined: nothing of its tenant may be judged now, and it waits. */
  judge(job: Job, whoIsThere: WhoIsThere): Judged | undefined | Promise<Judged> {
    const policy = this.#policyOf(job.spec.kind.tenant)
    if (policy === undefined) return undefined
    const judgement = policy.judge(job)
    const { route } = judgement
    if (route === undefined) return judgedBy(judgement)
    if (!asksWhoIsThere(route)) return sent(judgement, route, job, undefined)
    return whoIsThere(job.spec.kind.tenant).then((present) => sent(judgement, route, job, present))
  }

  #policyOf(tenant: string): Snapshot | Layered | undefined {
    const own = this.#settings.of(tenant)
    if (own === undefined) return undefined
    // A tenant that has set nothing has no rule that allows anything.
    if (this.#folder === undefined) return own === 'none' ? NOTHING : own
    const { snapshot } = this.#folder
    assert(snapshot !== undefined, 'who judges has looked, and there was a policy')
    if (own === 'none') return snapshot
    const known = this.#layered.get(tenant)
    if (known?.isOf(snapshot, own)) return known
    const made = new Layered(snapshot, own)
    this.#layered.set(tenant, made)
    return made
  }
}

const NOTHING = new Snapshot([])

/** The live workers of a tenant; undefined where that cannot be told. */
export type WhoIsThere = (tenant: string) => Promise<readonly Present[] | undefined>

function sent(judgement: Judgement, rule: RouteRule, { spec }: Job, present: readonly Present[] | undefined): Judged {
  const found = routed(rule, spec.adapterId, present)
  return 'nobody' in found
    ? judgedBy({ ...judgement, decision: 'deny', rule: rule.id, reason: found.nobody })
    : { ...judgedBy(judgement), route: found.route }
}

export const judgedBy = ({
  decision,
  rule,
  policyHash,
  reason,
  constraint,
  approval,
  redirects,
  throttles,
}: Judgement): Judged => ({
  approval,
  letsIn: decision !== 'deny',
  rule,
  policyHash,
  reason,
  terms: constraint && { attemptMs: constraint.timeout, maxAttempts: constraint.attempts },
  recast: recastBy(constraint?.labels, throttles),
  redirect: sentBy(redirects),
})

const recastBy = (
  labels: Readonly<Record<string, string>> | undefined,
  throttles: Judgement['throttles'],
): Judged['recast'] =>
  labels === undefined && throttles.length === 0
    ? undefined
    : { labels, throttles: throttles.length === 0 ? undefined : throttles }

/** From where it was first addressed to where it came to in the end, by whoever sent it there. */
function sentBy(redirects: Judgement['redirects']): Judged['redirect'] {
  const [first] = redirects
  const last = redirects.at(-1)
  return first && last && { from: first.from, to: last.to, rule: last.rule }
}
