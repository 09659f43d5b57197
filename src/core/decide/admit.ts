/**
 * `admit`: `pending` → `queued`. The clock of "not started in time" begins here. Who may not approve the job may not let it in either,
 * or another pair of eyes could be done without.
 */
import { eyesAmiss, narrower } from '../admission.ts'
import { assert } from '../assert.ts'
import type { Admit, Deny } from '../command.ts'
import { neededToClaim } from '../dialects/bond.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import { needOf, needText, type Route } from '../needs.ts'
import { changing, recastAmiss, recasted, specAs } from '../recast.ts'
import type { Ruling } from '../ruling.ts'
import { startByFor } from '../timers.ts'

export function decideAdmit(d: Draft, job: Job, command: Admit): Ruling {
  const message = job.approval && eyesAmiss(job.approval, job, command.actor)
  if (message !== undefined) return { code: 'NOT_APPROVABLE', message }
  const amiss = recastAmiss(job, command.recast)
  if (amiss !== undefined) return { code: 'INVALID', message: amiss }
  admission(d, job, command)
  return undefined
}

export function admission(d: Draft, job: Job, command: Admit | Deny): void {
  const { rule, policyHash } = command
  assert(job.runAt !== undefined, 'the table lets only pending jobs be admitted')
  const runAt = Math.max(d.at, job.runAt)
  const startBy = startByFor(job.spec.kind.policy, runAt)
  // What a denial has to say is told with the denial.
  const { reason, terms, route = NOWHERE, recast: asked } = command.type === 'admit' ? command : NOTHING
  const verdict = { rule, policyHash, reason }
  const recast = changing(job, asked)
  const { kind } = recast === undefined ? job.spec : specAs(recasted(job.spec, recast))
  const type = needOf(job.needs).type === undefined ? neededToClaim(kind) : kind.type
  const needed = needText({ ...route, type })
  const needs = needed === job.needs ? undefined : needed
  const payload = { verdict, runAt, startBy, needs, terms: narrower(job, terms), recast }
  change(d, 'admitted', 'queued', payload, { reason: rule })
}

const NOTHING: Pick<Admit, 'reason' | 'terms' | 'route' | 'recast'> = {}
const NOWHERE: Route = { pool: undefined, capabilities: [] }
