/** The policy in a folder as a judge of jobs: what its rules come to, in the words of core. */

import type { Judged, Present } from '../core/admission.ts'
import { assert } from '../core/assert.ts'
import type { Job } from '../core/job.ts'
import type { Log } from '../system/log.ts'
import { PolicyFolder } from './folder.ts'
import type { Judgement } from './judgement.ts'
import { asksWhoIsThere, type RouteRule, routed } from './route.ts'

export class FolderJudge {
  readonly #folder: PolicyFolder

  /** Throws `BrokenPolicy`. */
  constructor(folder: string, log: Log) {
    this.#folder = new PolicyFolder(folder, log)
  }

  look(): boolean {
    this.#folder.look()
    return this.#folder.snapshot !== undefined
  }

  judge(job: Job, whoIsThere: WhoIsThere): Judged | Promise<Judged> {
    const { snapshot } = this.#folder
    assert(snapshot !== undefined, 'who judges has looked, and there was a policy')
    const judgement = snapshot.judge(job)
    const { route } = judgement
    if (route === undefined) return judgedBy(judgement)
    if (!asksWhoIsThere(route)) return sent(judgement, route, job, undefined)
    return whoIsThere(job.spec.kind.tenant).then((present) => sent(judgement, route, job, present))
  }
}

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
