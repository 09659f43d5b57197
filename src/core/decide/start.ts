/** `start`: `claimed` → `running`. User code begins here. */
import { bondOf } from '../dialects/bond.ts'
import { change, type Draft } from '../draft.ts'
import type { Job, Time } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { decideHeartbeat } from './heartbeat.ts'

export function decideStart(d: Draft, job: Job): Ruling {
  change(d, 'started', 'running', {})
  return bondOf(job.spec.kind.policy).startsWithHeartbeat ? decideHeartbeat(d, d.job) : undefined
}

/** An outcome told from `claimed` implies the start: two transitions, one commit, the real time inside. */
export function startImplicitly(d: Draft, startedAt: Time | undefined): void {
  if (d.job.state !== 'claimed') return
  const at = Math.min(d.at, Math.max(d.job.updatedAt, startedAt ?? d.at))
  change(d, 'started', 'running', {}, { at })
}
