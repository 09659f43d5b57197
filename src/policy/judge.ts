/** The policy in a folder as a judge of jobs: what its rules come to, in the words of core. */

import type { Judged } from '../core/admission.ts'
import { assert } from '../core/assert.ts'
import type { Job } from '../core/job.ts'
import type { Log } from '../system/log.ts'
import { PolicyFolder } from './folder.ts'
import type { Judgement } from './judgement.ts'

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

  judge(job: Job): Judged {
    const { snapshot } = this.#folder
    assert(snapshot !== undefined, 'who judges has looked, and there was a policy')
    return judgedBy(snapshot.judge(job))
  }
}

export const judgedBy = ({ decision, rule, policyHash, reason, constraint, approval }: Judgement): Judged => ({
  approval,
  letsIn: decision !== 'deny',
  rule,
  policyHash,
  reason,
  terms: constraint && { attemptMs: constraint.timeout, maxAttempts: constraint.attempts },
})
