/**
 * Two policies for one job: the installation's, which is written in files, and its tenant's own, which is kept in the store. A tenant
 * can narrow what the files allow and never widen it: what they deny, or have no rule for, stays denied, and where it has
 * no rule itself nothing is added. Of two that send a job elsewhere, the files have the word, and so have their routes.
 */
import { sha256 } from '../system/digest.ts'
import type { Described, JobFacts } from './facts.ts'
import { beside, type Finding, type Judgement, NO_RULE } from './judgement.ts'
import type { Snapshot } from './snapshot.ts'
import { NO_ROUTE } from './snapshot.ts'
import { type Stations, walked } from './walk.ts'

export class Layered implements Stations {
  readonly hash: string
  readonly #files: Snapshot
  readonly #own: Snapshot

  constructor(files: Snapshot, own: Snapshot) {
    this.hash = sha256(`${files.hash} ${own.hash}`).slice(0, 32)
    this.#files = files
    this.#own = own
  }

  isOf(files: Snapshot, own: Snapshot): boolean {
    return this.#files === files && this.#own === own
  }

  judge(job: Described): Judgement {
    return walked(job, this)
  }

  look(facts: JobFacts): Judgement {
    const first = { ...this.#files.look(facts), policyHash: this.hash }
    if (first.decision === 'deny') return first
    const own = this.#own.look(facts)
    return own.rule === NO_RULE ? first : beside(first, own)
  }

  route(judgement: Judgement, facts: JobFacts): Judgement {
    const first = this.#files.route(judgement, facts)
    const { route } = first
    if (first.decision === 'deny' || route?.pool !== undefined || route?.requires !== undefined) return first
    const own = this.#own.route(first, facts)
    return own.decision === 'deny' && own.rule === NO_ROUTE ? first : own
  }

  findings(job: Described, sentTo?: string): readonly Finding[] {
    return [...this.#files.findings(job, sentTo), ...this.#own.findings(job, sentTo)]
  }
}
