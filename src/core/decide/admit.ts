/** `admit`: `pending` → `queued`. The clock of "not started in time" begins here. */
import { assert } from '../assert.ts'
import type { Admit, Deny } from '../command.ts'
import { neededUnlessHandedBack } from '../dialects/bond.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { startByFor } from '../timers.ts'

export function decideAdmit(d: Draft, job: Job, command: Admit): Ruling {
  admission(d, job, command)
  return undefined
}

export function admission(d: Draft, job: Job, { rule, policyHash }: Admit | Deny): void {
  assert(job.runAt !== undefined, 'the table lets only pending jobs be admitted')
  const runAt = Math.max(d.at, job.runAt)
  const startBy = startByFor(job.spec.kind.policy, runAt)
  const verdict = { rule, policyHash, reason: undefined }
  const needs = neededUnlessHandedBack(job)
  change(d, 'admitted', 'queued', { verdict, runAt, startBy, needs }, { reason: rule })
}
