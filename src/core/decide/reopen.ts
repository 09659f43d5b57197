/** `reopen`: an operator's second chance: generation + 1, budgets and deadline fresh, the attempt not reset. */
import type { Reopen } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { gone } from '../stripped.ts'
import { deadlineFrom, startByFor } from '../timers.ts'

export function decideReopen(d: Draft, job: Job, command: Reopen): Ruling {
  const bare = gone(job)
  if (bare !== undefined) return bare
  const { policy } = job.spec.kind
  const runAt = Math.max(d.at, command.runAt ?? d.at)
  const payload = {
    runAt,
    deadlineAt: deadlineFrom(policy, d.at),
    startBy: startByFor(policy, runAt),
  }
  const to = policy.admission ? 'pending' : 'queued'
  change(d, 'reopened', to, payload, { reason: command.reason, generation: job.generation + 1 })
  return undefined
}
